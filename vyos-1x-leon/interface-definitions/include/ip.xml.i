<!-- IPv4 on the interface, as every VyOS tunnel interface has it. -->
<node name="ip">
  <properties>
    <help>IPv4 routing parameters</help>
  </properties>
  <children>
    #include <include/ip-common.xml.i>
    <leafNode name="arp-cache-timeout">
      <properties>
        <help>Lifetime of ARP cache entries</help>
        <valueHelp>
          <format>u32:1-86400</format>
          <description>Lifetime in seconds</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 1-86400"/>
        </constraint>
        <constraintErrorMessage>ARP cache timeout must be between 1 and 86400 seconds</constraintErrorMessage>
      </properties>
      <defaultValue>30</defaultValue>
    </leafNode>
    <leafNode name="disable-arp-filter">
      <properties>
        <help>Disable the ARP filter of this interface</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="enable-arp-accept">
      <properties>
        <help>Learn neighbors from gratuitous ARP</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="enable-arp-announce">
      <properties>
        <help>Announce only addresses of this interface in ARP requests</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="enable-arp-ignore">
      <properties>
        <help>Answer ARP requests only for addresses of this interface</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="enable-directed-broadcast">
      <properties>
        <help>Forward directed broadcasts</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="enable-proxy-arp">
      <properties>
        <help>Answer ARP requests on behalf of other networks (proxy ARP)</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="proxy-arp-pvlan">
      <properties>
        <help>Answer ARP requests on behalf of hosts of this interface (private VLAN)</help>
        <valueless/>
      </properties>
    </leafNode>
  </children>
</node>
