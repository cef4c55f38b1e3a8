<!-- Nodes whose operators may capture frames of this node. -->
<node name="capture">
  <properties>
    <help>Capture of a flow on this node by operators of nodes</help>
  </properties>
  <children>
    <leafNode name="permit">
      <properties>
        <help>Node whose operators may capture frames of one flow here</help>
        <completionHelp>
          <list>all</list>
          <script>sudo ${vyos_completion_dir}/list_leon_nodes.py --authority</script>
        </completionHelp>
        <valueHelp>
          <format>all</format>
          <description>All nodes, this node included</description>
        </valueHelp>
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
          <regex>(all|[0-9a-f]{64})</regex>
        </constraint>
        <constraintErrorMessage>Node must be all, or an identity or a node-id as in show leon identity, because a node chooses its name itself</constraintErrorMessage>
        <multi/>
      </properties>
    </leafNode>
  </children>
</node>
