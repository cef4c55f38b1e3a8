<!-- What happens to Ethernet frames on their way into the overlay. -->
<node name="fdb">
  <properties>
    <help>Forwarding database (FDB)</help>
  </properties>
  <children>
    #leaves <fdb>
  </children>
</node>
<node name="loop-guard">
  <properties>
    <help>Detection of other nodes on the local segment</help>
  </properties>
  <children>
    #leaves <loop-guard>
  </children>
</node>
<node name="mss-clamp">
  <properties>
    <help>Lowering of the TCP Maximum Segment Size (MSS) to the path MTU</help>
  </properties>
  <children>
    #leaves <mss-clamp>
  </children>
</node>
<node name="shaper">
  <properties>
    <help>Rate limit below the rate of the access link, so that the backlog stays at this node</help>
  </properties>
  <children>
    #leaves <shaper>
    <tagNode name="peer">
      <properties>
        <help>Rate for one node that replaces per-peer</help>
        <completionHelp>
          <script>sudo ${vyos_completion_dir}/list_leon_nodes.py --ids</script>
        </completionHelp>
        <valueHelp>
          <format>ipv4</format>
          <description>Node-id of the node</description>
        </valueHelp>
        <constraint>
          <validator name="ipv4-address"/>
        </constraint>
        <constraintErrorMessage>Node-id must be written like an IPv4 address, as in show leon nodes</constraintErrorMessage>
      </properties>
      <children>
        #leaves <shaper peer NODE>
      </children>
    </tagNode>
  </children>
</node>
<node name="storm-control">
  <properties>
    <help>Limits of flooded frames of this node</help>
  </properties>
  <children>
    #leaves <storm-control>
  </children>
</node>
<node name="multicast">
  <properties>
    <help>Multicast to sites with listeners</help>
  </properties>
  <children>
    #leaves <multicast>
  </children>
</node>
<node name="suppression">
  <properties>
    <help>Local answers on behalf of known remote hosts</help>
  </properties>
  <children>
    #leaves <suppression>
  </children>
</node>
<leafNode name="vlan">
  <properties>
    <help>VLAN that this node serves, the VLANs of the bridge port if not set</help>
    <valueHelp>
      <format>u32:0-4094</format>
      <description>VLAN, 0 for untagged frames</description>
    </valueHelp>
    <valueHelp>
      <format>range</format>
      <description>Range of VLANs such as 20-29</description>
    </valueHelp>
    <constraint>
      <validator name="leon-vlan" argument="--range 0-4094"/>
    </constraint>
    <constraintErrorMessage>VLAN must be a number between 0 and 4094 or an ascending range such as 20-29</constraintErrorMessage>
    <multi/>
  </properties>
</leafNode>
