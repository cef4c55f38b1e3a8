<!-- Segments that have another VLAN here than their number. -->
<tagNode name="segment">
  <properties>
    <help>Segment of the overlay with its own VLAN on this LAN</help>
    <valueHelp>
      <format>txt</format>
      <description>Name of the segment on this router</description>
    </valueHelp>
    <constraint>
      <regex>[a-zA-Z0-9._-]{1,32}</regex>
    </constraint>
    <constraintErrorMessage>Segment name must have 1 to 32 letters, digits, dots, underscores or hyphens</constraintErrorMessage>
  </properties>
  <children>
    #leaves <segment NAME>
  </children>
</tagNode>
