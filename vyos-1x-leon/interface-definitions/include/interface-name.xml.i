<!-- A name that VyOS gives to interfaces, or an interface (or VRF) that exists. -->
<constraint>
  <regex>(bond|br|dum|en|ersp|eth|gnv|ifb|ipoe|l2tp|l2tpeth|lan|leon|macsec|peth|ppp|pppoe|pptp|sstp|sstpc|tun|veth|vti|vtun|vxlan|wg|wlan|wwan)[0-9]+(\.[0-9]+)*|lo</regex>
  <validator name="file-path" argument="--lookup-path /sys/class/net --directory"/>
</constraint>
<constraintErrorMessage>Not the name of an interface</constraintErrorMessage>
