<!-- A network. -->
<valueHelp>
  <format>ipv4net</format>
  <description>IPv4 prefix</description>
</valueHelp>
<valueHelp>
  <format>ipv6net</format>
  <description>IPv6 prefix</description>
</valueHelp>
<constraint>
  <validator name="ipv4-prefix"/>
  <validator name="ipv6-prefix"/>
</constraint>
<constraintErrorMessage>Prefix must be a network with its length such as 10.1.0.0/16</constraintErrorMessage>
