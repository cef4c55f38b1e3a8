<!-- IPv6 on the interface, as every VyOS tunnel interface has it. -->
<node name="ipv6">
  <properties>
    <help>IPv6 routing parameters</help>
  </properties>
  <children>
    #include <include/ip-common.xml.i>
    <leafNode name="accept-dad">
      <properties>
        <help>Reaction to Duplicate Address Detection (DAD)</help>
        <completionHelp>
          <list>0 1 2</list>
        </completionHelp>
        <valueHelp>
          <format>0</format>
          <description>Disable DAD</description>
        </valueHelp>
        <valueHelp>
          <format>1</format>
          <description>Enable DAD</description>
        </valueHelp>
        <valueHelp>
          <format>2</format>
          <description>Enable DAD, disable IPv6 when the link-local address is a duplicate</description>
        </valueHelp>
        <constraint>
          <regex>[0-2]</regex>
        </constraint>
        <constraintErrorMessage>Reaction to DAD must be 0, 1 or 2</constraintErrorMessage>
      </properties>
      <defaultValue>1</defaultValue>
    </leafNode>
    <node name="address">
      <properties>
        <help>IPv6 address configuration modes</help>
      </properties>
      <children>
        <leafNode name="autoconf">
          <properties>
            <help>Stateless Address Autoconfiguration (SLAAC)</help>
            <valueless/>
          </properties>
        </leafNode>
        <leafNode name="eui64">
          <properties>
            <help>Prefix of an address with an EUI-64 made of the MAC address</help>
            <valueHelp>
              <format>&lt;h:h:h:h:h:h:h:h/64&gt;</format>
              <description>IPv6 prefix of 64 bits</description>
            </valueHelp>
            <constraint>
              <validator name="ipv6-eui64-prefix"/>
            </constraint>
            <constraintErrorMessage>Prefix must be an IPv6 network with a length of 64</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
        <leafNode name="no-default-link-local">
          <properties>
            <help>Remove the link-local address that is made of the MAC address</help>
            <valueless/>
          </properties>
        </leafNode>
      </children>
    </node>
    <leafNode name="base-reachable-time">
      <properties>
        <help>Time for which a neighbor is taken as reachable</help>
        <valueHelp>
          <format>u32:1-86400</format>
          <description>Time in seconds</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 1-86400"/>
        </constraint>
        <constraintErrorMessage>Base reachable time must be between 1 and 86400 seconds</constraintErrorMessage>
      </properties>
      <defaultValue>30</defaultValue>
    </leafNode>
    <leafNode name="dup-addr-detect-transmits">
      <properties>
        <help>Neighbor solicitations to send for Duplicate Address Detection (DAD)</help>
        <valueHelp>
          <format>u32:0</format>
          <description>Disable DAD</description>
        </valueHelp>
        <valueHelp>
          <format>u32:1-n</format>
          <description>Number of solicitations</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--non-negative"/>
        </constraint>
        <constraintErrorMessage>Number of solicitations must not be negative</constraintErrorMessage>
      </properties>
      <defaultValue>1</defaultValue>
    </leafNode>
  </children>
</node>
