<!-- What other nodes and the routing protocols of this router learn of each other. -->
<node name="export">
  <properties>
    <help>Routes for routing protocols</help>
  </properties>
  <children>
    <node name="next-hop">
      <properties>
        <help>Routes to other nodes with the latency as metric, for BGP next-hops and for "redistribute kernel" of BGP and OSPF</help>
      </properties>
      <children>
        #leaves <export next-hop>
      </children>
    </node>
    <leafNode name="prefix">
      <properties>
        <help>Prefix behind this node that is announced to other nodes</help>
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
    <help>Announcements of other nodes that are accepted</help>
  </properties>
  <children>
    <leafNode name="address">
      <properties>
        <help>Prefix of overlay addresses that become routes, private networks if not set</help>
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
            <help>Node from which prefixes are accepted, all nodes if not set</help>
            <completionHelp>
              <script>sudo ${vyos_completion_dir}/list_leon_nodes.py --authority</script>
            </completionHelp>
            <valueHelp>
              <format>txt</format>
              <description>Identity, 64 lower-case hexadecimal digits as in show leon identity</description>
            </valueHelp>
            <valueHelp>
              <format>ipv4</format>
              <description>Node-id, which without trusted-identity another node can use while its node is away</description>
            </valueHelp>
            <constraint>
              <validator name="ipv4-address"/>
              <regex>[0-9a-f]{64}</regex>
            </constraint>
            <constraintErrorMessage>Node must be an identity or a node-id as in show leon identity, because a node chooses its name itself</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
      </children>
    </tagNode>
  </children>
</node>
