# SPDX-License-Identifier: GPL-2.0-or-later
# Three sites of LEON in three regions of Google Cloud. See README.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = { source = "hashicorp/google", version = ">= 5.0" }
    random = { source = "hashicorp/random", version = ">= 3.0" }
  }
}

provider "google" {
  project = var.project
}

variable "project" {
  type = string
}

variable "sites" {
  description = "Region, zone, network and address in the segment, by site"
  type = map(object({
    region  = string
    zone    = string
    cidr    = string
    overlay = string
  }))
}

variable "image" {
  description = "Name of the image, the same in all regions"
  type        = string
}

variable "machine_type" {
  type    = string
  default = "e2-small"
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
  elastic = { for site, ip in google_compute_address.node : site => ip.address }
  overlay = { for site, s in var.sites : site => s.overlay }
}

# Each site has its own network, so the Internet is the only connection between sites.
resource "google_compute_network" "site" {
  for_each                = var.sites
  name                    = "leon-${each.key}"
  auto_create_subnetworks = false
  mtu                     = 1500
}

resource "google_compute_subnetwork" "site" {
  for_each      = var.sites
  name          = "leon-${each.key}"
  region        = each.value.region
  network       = google_compute_network.site[each.key].id
  ip_cidr_range = each.value.cidr
}

resource "google_compute_firewall" "leon" {
  for_each      = var.sites
  name          = "leon-${each.key}"
  network       = google_compute_network.site[each.key].id
  source_ranges = ["0.0.0.0/0"]

  allow {
    protocol = "udp"
    ports    = ["5366"]
  }
}

resource "google_compute_firewall" "ssh" {
  for_each      = var.sites
  name          = "leon-${each.key}-ssh"
  network       = google_compute_network.site[each.key].id
  source_ranges = [var.admin_cidr]

  allow {
    protocol = "tcp"
    ports    = ["22"]
  }
}

resource "google_compute_firewall" "site" {
  for_each      = var.sites
  name          = "leon-${each.key}-site"
  network       = google_compute_network.site[each.key].id
  source_ranges = [each.value.cidr]

  allow {
    protocol = "all"
  }
}

# The address exists before the machine, because user-data contains the address.
resource "google_compute_address" "node" {
  for_each = var.sites
  name     = "leon-${each.key}"
  region   = each.value.region
}

resource "google_compute_instance" "node" {
  for_each       = var.sites
  name           = "leon-${each.key}"
  zone           = each.value.zone
  machine_type   = var.machine_type
  can_ip_forward = true

  boot_disk {
    initialize_params {
      image = var.image
      size  = 10
    }
  }

  network_interface {
    subnetwork = google_compute_subnetwork.site[each.key].id

    access_config {
      nat_ip = google_compute_address.node[each.key].address
    }
  }

  shielded_instance_config {
    enable_secure_boot = true
  }

  metadata = {
    ssh-keys           = "debian:${var.public_key}"
    serial-port-enable = "true"
    user-data = templatefile("${path.module}/../user-data.yaml.tftpl", {
      name    = each.key
      elastic = local.elastic
      overlay = local.overlay
      secret  = local.secret
      token   = local.token[each.key]
    })
  }
}

# Other hosts of the site reach the segment through their node.
resource "google_compute_route" "segment" {
  for_each               = var.sites
  name                   = "leon-${each.key}-segment"
  network                = google_compute_network.site[each.key].id
  dest_range             = cidrsubnet(each.value.overlay, 0, 0)
  next_hop_instance      = google_compute_instance.node[each.key].name
  next_hop_instance_zone = each.value.zone
}

output "nodes" {
  value = local.elastic
}
