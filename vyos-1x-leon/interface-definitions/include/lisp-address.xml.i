<!-- Of a router or server on the underlay. -->
<valueHelp>
  <format>ipv4</format>
  <description>IPv4 address</description>
</valueHelp>
<valueHelp>
  <format>ipv6</format>
  <description>IPv6 address</description>
</valueHelp>
<constraint>
  <validator name="ip-address"/>
</constraint>
<constraintErrorMessage>Value must be an IP address without prefix length</constraintErrorMessage>
