<!-- Which of several locators is used. -->
<leafNode name="priority">
  <properties>
    <help>Priority, the lowest is used</help>
    <valueHelp>
      <format>u32:0-200</format>
      <description>Priority</description>
    </valueHelp>
    <constraint>
      <validator name="numeric" argument="--range 0-200"/>
    </constraint>
    <constraintErrorMessage>Priority must be between 0 and 200</constraintErrorMessage>
  </properties>
  <defaultValue>1</defaultValue>
</leafNode>
<leafNode name="weight">
  <properties>
    <help>Share of the flows among locators of equal priority</help>
    <valueHelp>
      <format>u32:0-255</format>
      <description>Weight</description>
    </valueHelp>
    <constraint>
      <validator name="numeric" argument="--range 0-255"/>
    </constraint>
    <constraintErrorMessage>Weight must be between 0 and 255</constraintErrorMessage>
  </properties>
  <defaultValue>100</defaultValue>
</leafNode>
