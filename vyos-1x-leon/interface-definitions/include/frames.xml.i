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
    <help>Lowering of the TCP Maximum Segment Size (MSS) to what fits the path</help>
  </properties>
  <children>
    #leaves <mss-clamp>
  </children>
</node>
<node name="storm-control">
  <properties>
    <help>Limits of what this node floods into the overlay</help>
  </properties>
  <children>
    #leaves <storm-control>
  </children>
</node>
<node name="suppression">
  <properties>
    <help>Local answers on behalf of remote hosts that are known</help>
  </properties>
  <children>
    #leaves <suppression>
  </children>
</node>
