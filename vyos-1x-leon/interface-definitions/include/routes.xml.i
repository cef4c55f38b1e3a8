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
        <leafNode name="interval">
          <properties>
            <help>Time between two metrics of a node, 1000 if not set</help>
            <valueHelp>
              <format>u32:1000-60000</format>
              <description>Interval in milliseconds</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 1000-60000"/>
            </constraint>
            <constraintErrorMessage>Interval must be between 1000 and 60000 milliseconds</constraintErrorMessage>
          </properties>
        </leafNode>
        <leafNode name="threshold">
          <properties>
            <help>Percentage by which the latency must differ to move the metric, 10 if not set</help>
            <valueHelp>
              <format>u32:0-90</format>
              <description>Percentage of the metric</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 0-90"/>
            </constraint>
            <constraintErrorMessage>Threshold must be between 0 and 90 percent</constraintErrorMessage>
          </properties>
        </leafNode>
        <leafNode name="threshold-minimum">
          <properties>
            <help>Latency by which it must differ at least to move the metric, 500 if not set</help>
            #include <include/microseconds.xml.i>
          </properties>
        </leafNode>
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
    <help>What is accepted of that which other nodes export</help>
  </properties>
  <children>
    <leafNode name="address">
      <properties>
        <help>Prefix whose overlay addresses become routes, private networks if not set</help>
        #include <include/prefix.xml.i>
        <multi/>
      </properties>
    </leafNode>
    <leafNode name="distance">
      <properties>
        <help>Administrative distance of routes to prefixes, 90 if not set</help>
        <valueHelp>
          <format>u32:0-254</format>
          <description>Distance, 0 is preferred to static routes</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-254"/>
        </constraint>
        <constraintErrorMessage>Distance must be 0 to 254</constraintErrorMessage>
      </properties>
    </leafNode>
    <tagNode name="prefix">
      <properties>
        <help>Prefix of other nodes that becomes a route, none if not set</help>
        #include <include/prefix.xml.i>
      </properties>
      <children>
        <leafNode name="ge">
          <properties>
            <help>Shortest length that is accepted</help>
            #include <include/prefix-length.xml.i>
          </properties>
        </leafNode>
        <leafNode name="le">
          <properties>
            <help>Longest length that is accepted</help>
            #include <include/prefix-length.xml.i>
          </properties>
        </leafNode>
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
