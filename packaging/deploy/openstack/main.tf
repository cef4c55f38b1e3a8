# SPDX-License-Identifier: GPL-2.0-or-later
# Three sites of LEON in three regions of OpenStack. See README.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    openstack = { source = "terraform-provider-openstack/openstack", version = ">= 2.0" }
    random    = { source = "hashicorp/random", version = ">= 3.0" }
  }
}

provider "openstack" {}

variable "sites" {
  description = "Region, network, name of the image in that region and address in the segment, by site"
  type = map(object({
    region  = string
    cidr    = string
    image   = string
    overlay = string
  }))
}

variable "flavor" {
  type    = string
  default = "m1.small"
}

variable "external_network" {
  description = "Name of the network that floating addresses come from, the same in all regions"
  type        = string
}

variable "public_key" {
  description = "SSH key for the user debian"
  type        = string
}

variable "admin_cidr" {
  description = "Prefix from which SSH is permitted, such as 203.0.113.7/32"
  type        = string
}

variable "secret" {
  description = "Secret of the overlay, 8 to 128 characters. If empty, a random secret."
  type        = string
  default     = null
  sensitive   = true
}

variable "tokens" {
  description = "Token of `leonctl invite` for each site, to join an existing overlay in place of a secret"
  type        = map(string)
  default     = {}
  sensitive   = true
}

resource "random_password" "secret" {
  length  = 40
  special = false
}

locals {
  secret  = coalesce(var.secret, random_password.secret.result)
  token   = { for site in keys(var.sites) : site => length(var.tokens) > 0 ? var.tokens[site] : null }
  elastic = { for site, ip in openstack_networking_floatingip_v2.node : site => ip.address }
  overlay = { for site, s in var.sites : site => s.overlay }
  rules = {
    leon = { protocol = "udp", port = 5366, cidr = "0.0.0.0/0" }
    ssh  = { protocol = "tcp", port = 22, cidr = var.admin_cidr }
  }
  site_rules = { for pair in setproduct(keys(var.sites), keys(local.rules)) :
    "${pair[0]}-${pair[1]}" => merge(local.rules[pair[1]], { site = pair[0] })
  }
}

data "openstack_networking_network_v2" "external" {
  for_each = var.sites
  region   = each.value.region
  name     = var.external_network
}

data "openstack_images_image_v2" "leon" {
  for_each    = var.sites
  region      = each.value.region
  name        = each.value.image
  most_recent = true
}

resource "openstack_networking_network_v2" "site" {
  for_each       = var.sites
  region         = each.value.region
  name           = "leon-${each.key}"
  admin_state_up = true
}

resource "openstack_networking_subnet_v2" "site" {
  for_each   = var.sites
  region     = each.value.region
  name       = "leon-${each.key}"
  network_id = openstack_networking_network_v2.site[each.key].id
  cidr       = each.value.cidr
  ip_version = 4
}

resource "openstack_networking_router_v2" "site" {
  for_each            = var.sites
  region              = each.value.region
  name                = "leon-${each.key}"
  external_network_id = data.openstack_networking_network_v2.external[each.key].id
}

resource "openstack_networking_router_interface_v2" "site" {
  for_each  = var.sites
  region    = each.value.region
  router_id = openstack_networking_router_v2.site[each.key].id
  subnet_id = openstack_networking_subnet_v2.site[each.key].id
}

resource "openstack_networking_secgroup_v2" "node" {
  for_each = var.sites
  region   = each.value.region
  name     = "leon-${each.key}"
}

resource "openstack_networking_secgroup_rule_v2" "node" {
  for_each          = local.site_rules
  region            = var.sites[each.value.site].region
  security_group_id = openstack_networking_secgroup_v2.node[each.value.site].id
  direction         = "ingress"
  ethertype         = "IPv4"
  protocol          = each.value.protocol
  port_range_min    = each.value.port
  port_range_max    = each.value.port
  remote_ip_prefix  = each.value.cidr
}

# Traffic of the site through its node.
resource "openstack_networking_secgroup_rule_v2" "site" {
  for_each          = var.sites
  region            = each.value.region
  security_group_id = openstack_networking_secgroup_v2.node[each.key].id
  direction         = "ingress"
  ethertype         = "IPv4"
  remote_ip_prefix  = each.value.cidr
}

resource "openstack_networking_port_v2" "node" {
  for_each           = var.sites
  region             = each.value.region
  name               = "leon-${each.key}"
  network_id         = openstack_networking_network_v2.site[each.key].id
  admin_state_up     = true
  security_group_ids = [openstack_networking_secgroup_v2.node[each.key].id]

  fixed_ip {
    subnet_id = openstack_networking_subnet_v2.site[each.key].id
  }

  # Permits forwarded packets, which have other source and destination addresses than the port.
  dynamic "allowed_address_pairs" {
    for_each = toset(["0.0.0.0/1", "128.0.0.0/1"])
    content {
      ip_address = allowed_address_pairs.value
    }
  }
}

# The address exists before the machine, because user-data contains the address.
resource "openstack_networking_floatingip_v2" "node" {
  for_each = var.sites
  region   = each.value.region
  pool     = var.external_network
}

resource "openstack_networking_floatingip_associate_v2" "node" {
  for_each    = var.sites
  region      = each.value.region
  floating_ip = openstack_networking_floatingip_v2.node[each.key].address
  port_id     = openstack_networking_port_v2.node[each.key].id
  depends_on  = [openstack_networking_router_interface_v2.site]
}

resource "openstack_compute_keypair_v2" "admin" {
  for_each   = var.sites
  region     = each.value.region
  name       = "leon-${each.key}"
  public_key = var.public_key
}

resource "openstack_compute_instance_v2" "node" {
  for_each    = var.sites
  region      = each.value.region
  name        = "leon-${each.key}"
  image_id    = data.openstack_images_image_v2.leon[each.key].id
  flavor_name = var.flavor
  key_pair    = openstack_compute_keypair_v2.admin[each.key].name

  network {
    port = openstack_networking_port_v2.node[each.key].id
  }

  user_data = templatefile("${path.module}/../user-data.yaml.tftpl", {
    name    = each.key
    elastic = local.elastic
    overlay = local.overlay
    secret  = local.secret
    token   = local.token[each.key]
  })

  # user-data has an effect at the first boot only. A new site changes user-data of all machines, so
  # changes do not replace the machines.
  lifecycle {
    ignore_changes = [user_data]
  }
}

# Other hosts of the site reach the segment through their node.
resource "openstack_networking_router_route_v2" "segment" {
  for_each         = var.sites
  region           = each.value.region
  router_id        = openstack_networking_router_interface_v2.site[each.key].router_id
  destination_cidr = cidrsubnet(each.value.overlay, 0, 0)
  next_hop         = openstack_networking_port_v2.node[each.key].all_fixed_ips[0]
}

output "nodes" {
  value = local.elastic
}
