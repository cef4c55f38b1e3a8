<!-- Properties of a tag node "interface" that narrows a command to one LEON interface. -->
<properties>
  <help>One LEON interface only</help>
  <completionHelp>
    <path>interfaces leon</path>
  </completionHelp>
</properties>
