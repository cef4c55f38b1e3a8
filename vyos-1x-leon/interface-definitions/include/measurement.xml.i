<!-- How links are measured. -->
<node name="measurement">
  <properties>
    <help>Measurement of the links to other nodes</help>
  </properties>
  <children>
    #leaves <measurement>
  </children>
</node>
