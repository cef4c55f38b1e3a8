<!-- What happens to Ethernet frames on their way into the overlay. -->
<node name="fdb">
  <properties>
    <help>Forwarding database (FDB)</help>
  </properties>
  <children>
    <leafNode name="aging">
      <properties>
        <help>Time after which a MAC address that was not seen is forgotten</help>
        <valueHelp>
          <format>u32:10-1000000</format>
          <description>Time in seconds</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 10-1000000"/>
        </constraint>
        <constraintErrorMessage>Aging time must be between 10 and 1000000 seconds</constraintErrorMessage>
      </properties>
      <defaultValue>300</defaultValue>
    </leafNode>
    <leafNode name="maximum">
      <properties>
        <help>Maximum number of entries</help>
        <valueHelp>
          <format>u32:16-1048576</format>
          <description>Number of MAC addresses, local hosts included</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 16-1048576"/>
        </constraint>
        <constraintErrorMessage>Number of entries must be between 16 and 1048576</constraintErrorMessage>
      </properties>
      <defaultValue>16384</defaultValue>
    </leafNode>
  </children>
</node>
<node name="loop-guard">
  <properties>
    <help>Detection of other nodes on the local segment</help>
  </properties>
  <children>
    <leafNode name="disable">
      <properties>
        <help>Disable detection</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="interval">
      <properties>
        <help>Interval between guard frames</help>
        #include <include/milliseconds.xml.i>
      </properties>
      <defaultValue>1000</defaultValue>
    </leafNode>
  </children>
</node>
<node name="mss-clamp">
  <properties>
    <help>Lowering of the TCP Maximum Segment Size (MSS) to what fits the path</help>
  </properties>
  <children>
    <leafNode name="disable">
      <properties>
        <help>Leave the MSS alone</help>
        <valueless/>
      </properties>
    </leafNode>
  </children>
</node>
<node name="storm-control">
  <properties>
    <help>Limits of what this node floods into the overlay</help>
  </properties>
  <children>
    <leafNode name="broadcast">
      <properties>
        <help>Limit of broadcast frames</help>
        #include <include/frames-per-second.xml.i>
      </properties>
      <defaultValue>1000</defaultValue>
    </leafNode>
    <leafNode name="multicast">
      <properties>
        <help>Limit of multicast frames</help>
        #include <include/frames-per-second.xml.i>
      </properties>
      <defaultValue>5000</defaultValue>
    </leafNode>
    <leafNode name="unknown-unicast">
      <properties>
        <help>Limit of unicast frames to MAC addresses that are not known</help>
        #include <include/frames-per-second.xml.i>
      </properties>
      <defaultValue>1000</defaultValue>
    </leafNode>
  </children>
</node>
<node name="suppression">
  <properties>
    <help>Local answers on behalf of remote hosts that are known</help>
  </properties>
  <children>
    <leafNode name="arp">
      <properties>
        <help>Answer ARP requests</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="nd">
      <properties>
        <help>Answer neighbor solicitations of Neighbor Discovery (ND)</help>
        <valueless/>
      </properties>
    </leafNode>
  </children>
</node>
