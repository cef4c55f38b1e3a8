<!-- What other nodes and the routing protocols of this router learn of each other. -->
<node name="export">
  <properties>
    <help>Routes for routing protocols</help>
  </properties>
  <children>
    <node name="next-hop">
      <properties>
        <help>Routes to other nodes with the latency as metric: BGP next-hops follow it as they are, "protocols bgp address-family ipv4-unicast redistribute kernel" makes it the MED, "protocols ospf redistribute kernel" announces the nodes</help>
      </properties>
      <children>
        #leaves <export next-hop>
      </children>
    </node>
    <leafNode name="prefix">
      <properties>
        <help>Prefix behind this node, other nodes reach it through the overlay</help>
        #include <include/prefix.xml.i>
        <multi/>
      </properties>
    </leafNode>
    <leafNode name="unconditional">
      <properties>
        <help>Announce prefixes without a route of this router to them</help>
        <valueless/>
      </properties>
    </leafNode>
  </children>
</node>
<node name="import">
  <properties>
    <help>What is accepted of that which other nodes announce</help>
  </properties>
  <children>
    <leafNode name="address">
      <properties>
        <help>Prefix whose overlay addresses become routes, private networks if not set</help>
        #include <include/prefix.xml.i>
        <multi/>
      </properties>
    </leafNode>
    #leaves <import>
    <tagNode name="prefix">
      <properties>
        <help>Prefix of other nodes that becomes a route, none if not set</help>
        #include <include/prefix.xml.i>
      </properties>
      <children>
        #leaves <import prefix PREFIX>
        <leafNode name="node">
          <properties>
            <help>Node whose prefixes are accepted, all nodes if not set</help>
            <completionHelp>
              <script>sudo ${vyos_completion_dir}/list_leon_nodes.py --authority</script>
            </completionHelp>
            <valueHelp>
              <format>txt</format>
              <description>Identity, 64 lower-case hexadecimal digits as in show leon identity</description>
            </valueHelp>
            <valueHelp>
              <format>ipv4</format>
              <description>Node-id, which others can take while its node is away and there is no trusted-identity</description>
            </valueHelp>
            <constraint>
              <validator name="ipv4-address"/>
              <regex>[0-9a-f]{64}</regex>
            </constraint>
            <constraintErrorMessage>Node must be an identity or a node-id as in show leon identity, since a name is what a node calls itself</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
      </children>
    </tagNode>
  </children>
</node>
