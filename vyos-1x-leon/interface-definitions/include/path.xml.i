<!-- How the path to a node is chosen. -->
<node name="path">
  <properties>
    <help>Choice of the path to a node</help>
  </properties>
  <children>
    #leaves <path>
  </children>
</node>
