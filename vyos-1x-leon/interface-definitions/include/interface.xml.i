<!-- What every VyOS interface of this kind has. -->
<leafNode name="address">
  <properties>
    <help>IP address</help>
    <valueHelp>
      <format>ipv4net</format>
      <description>IPv4 address and prefix length</description>
    </valueHelp>
    <valueHelp>
      <format>ipv6net</format>
      <description>IPv6 address and prefix length</description>
    </valueHelp>
    <constraint>
      <validator name="ip-host"/>
    </constraint>
    <constraintErrorMessage>Address must be an IP address with its prefix length</constraintErrorMessage>
    <multi/>
  </properties>
</leafNode>
<leafNode name="description">
  <properties>
    <help>Description</help>
    <valueHelp>
      <format>txt</format>
      <description>Description</description>
    </valueHelp>
    <constraint>
      <regex>.{0,255}</regex>
    </constraint>
    <constraintErrorMessage>Description must not be longer than 255 characters</constraintErrorMessage>
  </properties>
</leafNode>
<leafNode name="disable">
  <properties>
    <help>Administratively disable interface</help>
    <valueless/>
  </properties>
</leafNode>
#include <include/ip.xml.i>
#include <include/ipv6.xml.i>
<leafNode name="mac">
  <properties>
    <help>Media Access Control (MAC) address, derived from the first network card if not set</help>
    <valueHelp>
      <format>macaddr</format>
      <description>Unicast MAC address</description>
    </valueHelp>
    <constraint>
      <validator name="mac-address"/>
    </constraint>
    <constraintErrorMessage>MAC address must be six pairs of hexadecimal digits</constraintErrorMessage>
  </properties>
</leafNode>
<node name="mirror">
  <properties>
    <help>Copy of packets to another interface</help>
  </properties>
  <children>
    <leafNode name="ingress">
      <properties>
        <help>Destination of a copy of received packets</help>
        <completionHelp>
          <script>${vyos_completion_dir}/list_interfaces</script>
        </completionHelp>
        <valueHelp>
          <format>txt</format>
          <description>Destination interface name</description>
        </valueHelp>
      </properties>
    </leafNode>
    <leafNode name="egress">
      <properties>
        <help>Destination of a copy of sent packets</help>
        <completionHelp>
          <script>${vyos_completion_dir}/list_interfaces</script>
        </completionHelp>
        <valueHelp>
          <format>txt</format>
          <description>Destination interface name</description>
        </valueHelp>
      </properties>
    </leafNode>
  </children>
</node>
<leafNode name="redirect">
  <properties>
    <help>Destination to which received packets are redirected</help>
    <completionHelp>
      <script>${vyos_completion_dir}/list_interfaces</script>
    </completionHelp>
    <valueHelp>
      <format>txt</format>
      <description>Destination interface name</description>
    </valueHelp>
    #include <include/interface-name.xml.i>
  </properties>
</leafNode>
<leafNode name="vrf">
  <properties>
    <help>VRF instance of the interface</help>
    <completionHelp>
      <path>vrf name</path>
    </completionHelp>
    <valueHelp>
      <format>txt</format>
      <description>VRF instance name</description>
    </valueHelp>
    <constraint>
      <validator name="vrf-name"/>
    </constraint>
    <constraintErrorMessage>VRF name must start with a letter, have at most 15 characters and not be that of an interface</constraintErrorMessage>
  </properties>
</leafNode>
