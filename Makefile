# SPDX-License-Identifier: GPL-2.0-or-later
#
# Targets for developers. meson builds the programs. `make help` lists the targets.

PYTHON := /usr/bin/python3
CHECK := $(PYTHON) -B tests/run_check.py --pytest-args='$(PYTEST_ARGS)'
FUZZ_SECONDS ?= 60
FUZZ_MINUTES ?= 120
CUTS ?= 100
CLANG ?= 16 19
SOAK_MINUTES ?= 30
# tests/model/prove.py expects the output of this version.
VERIFPAL := 1.6.7
PYTEST := $(PYTHON) -B -m pytest -p no:cacheprovider -ra
DEMO_NEEDS := vyos-1x-leon/dataplane/leond vyos-1x-leon/leonctl/leonctl tests/netns/wanem
VM_PYTEST := $(PYTHON) -B tests/vm/run.py $(PYTEST)
# Tests of tests/netns that depend on features of the kernel.
VM_TESTS ?= vrf vlans vxlan_edge vyos_device offload export export_own
VM_ACCEL_TESTS ?= accel accel_moved
export LEON_BUILD := $(CURDIR)/build

.PHONY: all demo check check-quick check-sanitized check-tsan check-netns check-python \
	check-packaging check-clang check-observability check-fresh check-ipsec check-vm check-vm-accel check-vm-units check-units \
	check-cuts check-container check-image check-image-vyos check-image-arm check-deploy check-release check-mixed \
	bench bench-vm bench-line eval eval-accel eval-build eval-web deb deb-cross \
	image image-arm runs-arm64 image-container image-vyos release lint format fuzz fuzz-long fuzz-coverage prove soak soak-accel soak-kills clean help

all: build/build.ninja ## build leond and leonctl into build/
	ninja -C build

build/build.ninja:
	.ci/deps build
	meson setup build

demo: build/build.ninja ## three sites in network namespaces on this machine; DEMO=--stay keeps them
	ninja -C build $(DEMO_NEEDS)
	$(PYTHON) -B tests/netns/demo.py $(DEMO)

check: ## every test that needs no special hardware
	.ci/deps check deb fuzz
	$(CHECK) lint unit long python netns sanitized tsan mixed packaging fuzz

check-quick: ## lint, unit tests and Python tests only
	.ci/deps check
	$(CHECK) lint unit python

check-sanitized check-tsan check-netns check-python: check-%: ## one part of check
	.ci/deps check
	$(CHECK) $*

check-clang: ## build the tree with each clang of CLANG and with -Werror; installs no clang
	set -e; for v in $(CLANG); do \
		CC=clang-$$v meson setup --reconfigure -Dwerror=true build-clang-$$v || \
			CC=clang-$$v meson setup -Dwerror=true build-clang-$$v; \
		ninja -C build-clang-$$v; done

check-packaging: ## install, upgrade and remove the packages in temporary roots
	.ci/deps check deb
	$(CHECK) packaging

check-fresh: ## commands of the README on new Debian 12 and 13 systems; FRESH=13 selects one: an hour, root
	.ci/deps fresh
	$(PYTHON) -B tests/fresh/run.py $(FRESH)

check-observability: all ## alert rules with promtool, the map in a browser; installs Prometheus
	.ci/deps observability
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra $(PYTEST_ARGS) tests/netns/test_observability.py

check-vm: all ## VRFs, VLANs and offloads of the Debian kernel, in a virtual machine: minutes
	.ci/deps check vm
	$(VM_PYTEST) $(PYTEST_ARGS) $(addprefix tests/netns/test_,$(VM_TESTS:=.py))

check-vm-accel: all ## intercepted connections on the Debian kernel, in a virtual machine: ten minutes
	.ci/deps check vm
	$(VM_PYTEST) $(PYTEST_ARGS) $(addprefix tests/netns/test_,$(VM_ACCEL_TESTS:=.py))

check-vm-units: all deb ## units of the packages under systemd in a virtual machine, with acceleration: ten minutes
	.ci/deps check vm vm-units
	$(PYTHON) -B tests/vm/run.py --systemd $(PYTEST) $(PYTEST_ARGS) tests/vm/test_units.py

check-units: all deb ## units of the packages under systemd in a container on this kernel: minutes, root
	.ci/deps check units
	$(PYTHON) -B tests/vm/container.py $(PYTEST) $(PYTEST_ARGS) tests/vm/test_units.py tests/vm/test_cloud_unit.py tests/vm/test_ansible_unit.py

check-cuts: all ## split and join a LAN with 2 and with 3 routers CUTS times; CUTS_SEED repeats a run: minutes
	.ci/deps check
	for routers in 2 3; do $(PYTHON) -B tests/netns/cuts.py --routers $$routers --cuts $(CUTS) \
		$(addprefix --seed=,$(CUTS_SEED)) || exit 1; done

check-ipsec: all ## IPsec on a kernel with ESP, in a virtual machine: minutes, PYTEST_ARGS selects
	.ci/deps check vm ipsec
	$(VM_PYTEST) -s $(PYTEST_ARGS) tests/ipsec/test_kernel_esp.py

check-image: all ## three virtual machines boot the image and form an overlay: an hour without KVM
	.ci/deps check check-image
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra -s $(PYTEST_ARGS) tests/image/test_boot.py

check-container: all ## two containers of the image form an overlay: seconds, after image-container
	.ci/deps check
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra $(PYTEST_ARGS) tests/image/test_container.py

check-image-arm: all ## an arm64 machine boots its image and joins a node on this host: half an hour
	.ci/deps check check-image-arm
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra -s $(PYTEST_ARGS) tests/image/test_arm64.py

check-image-vyos: deb ## convert a root file system to a VyOS disk and boot the disk: half an hour without KVM
	.ci/deps check check-image image
	$(PYTHON) -B tests/image/vyos_root.py build/image-vyos/stand-in.tar.xz
	$(PYTHON) -B packaging/vyos-build/image_vyos.py --rootfs build/image-vyos/stand-in.tar.xz
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra -s $(PYTEST_ARGS) tests/image/test_vyos_disk.py

check-deploy: ## validate Terraform files with the schemas of the providers: pip, 160 MB
	$(PYTHON) -B tests/deploy/run.py

check-release: ## reproducible packages (two builds), and an installation by apt from a release
	.ci/deps check deb release image
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra $(PYTEST_ARGS) tests/release

check-mixed: all ## the previous release, or RELEASE=FILE or URL, in one overlay with this tree: minutes
	.ci/deps check
	RELEASE=$(RELEASE) $(PYTEST) -n 4 -p no:rerunfailures $(PYTEST_ARGS) tests/mixed

bench: all ## throughput and latency in comparison to kernel VXLAN and others (.ci/deps bench)
	.ci/deps check
	$(PYTHON) -B tests/bench/bench_fwd.py $(BENCH_ARGS)
	$(PYTHON) -B tests/bench/bench_relay.py

bench-vm: all ## bench, and WireGuard with VXLAN of the kernel, in a virtual machine: half an hour
	.ci/deps check vm bench
	$(PYTHON) -B tests/vm/run.py $(PYTHON) -B tests/bench/bench_fwd.py $(BENCH_ARGS)

bench-line: all ## a saturated access link: stable paths, and a rate limit that follows changes: ten minutes
	.ci/deps check
	LEON_BUILD=$(CURDIR)/build $(PYTHON) -B tests/bench/bench_line.py saturate
	LEON_BUILD=$(CURDIR)/build $(PYTHON) -B tests/bench/bench_line.py follow

eval-accel: all ## acceleration with many kinds of hosts and access links, and Table 1 of the paper: an hour
	.ci/deps eval eval-accel
	$(PYTHON) -B -m pytest -p no:cacheprovider -ra $(PYTEST_ARGS) tests/accel
	$(PYTHON) -B tests/eval/eval_accel.py $(EVAL_ARGS)

eval: ## evaluation of the paper: NFSv3 directly and over LEON
	.ci/deps eval
	meson setup --reconfigure build >/dev/null
	ninja -C build
	$(PYTHON) -B tests/eval/eval_nfs.py $(EVAL_ARGS)

eval-web: all ## MediaWiki with PostgreSQL at another site, directly and over LEON: ten minutes
	.ci/deps eval-web
	$(PYTHON) -B tests/eval/eval_web.py $(EVAL_ARGS)

eval-build: all ## Table 5 of the paper: a virtual machine with its disk on NFS compiles: 45 minutes
	.ci/deps eval-build
	$(PYTHON) -B tests/eval/eval_build.py $(EVAL_ARGS)

deb: ## Debian packages in build/deb/, without the unit tests of `make check`
	.ci/deps deb
	DEB_BUILD_OPTIONS="nocheck $$DEB_BUILD_OPTIONS" packaging/build-deb.sh build/deb

deb-cross: deb ## deb, and the package leond for arm64 by a cross compiler, in build/deb/
	.ci/deps image
	$(PYTHON) -B packaging/cross_deb.py

image: deb ## cloud image of Debian 13 (qcow2, raw) in build/image/; IMAGE_ARGS: build.py --help
	.ci/deps image
	$(PYTHON) -B packaging/image/build.py $(IMAGE_ARGS)

image-container: deb ## container image of leond (OCI archive) in build/image/; IMAGE_ARGS: build.py --help
	.ci/deps image image-container
	$(PYTHON) -B packaging/image/container.py $(IMAGE_ARGS)

runs-arm64:
	.ci/deps image-arm
	@arch-test arm64 >/dev/null || { echo "arm64 programs do not run here. Register the emulator:" \
		"systemctl restart systemd-binfmt, or without systemd: mount -t binfmt_misc none" \
		"/proc/sys/fs/binfmt_misc && /usr/lib/systemd/systemd-binfmt" >&2; exit 1; }

image-arm: runs-arm64 deb-cross ## the cloud image for arm64, in build/image/; the build emulates arm64 programs
	$(PYTHON) -B packaging/image/build.py --arch arm64 $(IMAGE_ARGS)

image-vyos: deb ## VyOS images by vyos-build with our flavors; IMAGE_VYOS_ARGS: image_vyos.py --help
	.ci/deps image image-vyos
	$(PYTHON) -B packaging/vyos-build/image_vyos.py $(IMAGE_VYOS_ARGS)

release: deb ## source, packages, apt repository, SBOM, checksums; RELEASE_ARGS: release.py --help
	.ci/deps release
	$(PYTHON) -B packaging/release/release.py $(RELEASE_ARGS)

lint: all ## layers, knots, functions, sizes, tables, format, shell, Python, comments, includes
	.ci/deps check
	$(PYTHON) -B tests/lint/run.py

format: ## clang-format all C code, regenerate the tables of the manual
	$(PYTHON) -B tests/lint/style.py c --write
	$(PYTHON) -B tests/lint/gen_tables.py --write

fuzz: ## libFuzzer on every decoder, FUZZ_SECONDS each
	.ci/deps fuzz
	$(PYTHON) -B tests/fuzz/run.py --seconds $(FUZZ_SECONDS) --jobs $$(nproc)

fuzz-long: ## libFuzzer on all decoders in rotation, FUZZ_MINUTES on each core
	.ci/deps fuzz
	$(PYTHON) -B tests/fuzz/run.py --minutes $(FUZZ_MINUTES) --jobs $$(nproc)

fuzz-coverage: ## code coverage of the inputs of the fuzz targets, by file
	.ci/deps fuzz
	$(PYTHON) -B tests/fuzz/coverage.py $(COVERAGE_ARGS)

build/verifpal/bin/verifpal:
	cargo install verifpal --version $(VERIFPAL) --locked --ignore-rust-version --root build/verifpal

prove: build/verifpal/bin/verifpal ## the model of the handshake; cargo 1.95 builds Verifpal first: minutes
	$(PYTHON) -B tests/model/prove.py $<

soak: ## failures of nodes and links for SOAK_MINUTES, with sanitizers and memory checks
	.ci/deps check
	test -f build-asan/build.ninja || meson setup build-asan -Dwerror=true \
		-Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-asan
	SOAK_MINUTES=$(SOAK_MINUTES) LEON_BUILD=$(CURDIR)/build-asan $(PYTHON) -B tests/netns/soak.py

soak-accel: ## acceleration: random interception and release for ACCEL_MINUTES, with sanitizers
	.ci/deps check
	test -f build-asan/build.ninja || meson setup build-asan -Dwerror=true \
		-Db_sanitize=address,undefined -Db_lundef=false
	ninja -C build-asan
	ACCEL_MINUTES=$(or $(ACCEL_MINUTES),30) LEON_BUILD=$(CURDIR)/build-asan $(PYTHON) -B -m pytest \
		-p no:cacheprovider -s $(PYTEST_ARGS) tests/accel/test_accel_cycles.py

soak-kills: all ## acceleration: ACCEL_KILLS (1000) random kills, with a check of all received data: half an hour
	.ci/deps check
	ACCEL_KILLS=$(or $(ACCEL_KILLS),1000) $(PYTHON) -B -m pytest -p no:cacheprovider -s $(PYTEST_ARGS) \
		tests/accel/test_accel_kills.py

clean: ## remove all build products
	rm -rf build build-asan build-tsan build-fuzz build-coverage build-clang-*

help: ## print this list
	@sed -n 's/^\([a-z][a-z -]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 52
