// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/machine_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/io/toml_reader.h"

namespace sluice {

namespace {

/// @param level  1: keys of an L1 as well
void read_cache(TomlTable table, CacheConfig& cache, int level) {
  table.read("bytes", cache.bytes, 128, 1U << 30);
  table.read("ways", cache.ways, 1, 64);
  table.read("mshrs", cache.mshrs, 1, 4096);
  table.read("mshr_merges", cache.mshr_merges, 1, 1024);
  table.read("hit_latency", cache.hit_latency, 1, 1000);
  table.optional();
  table.read("sectored", cache.sectored);
  cache.index = static_cast<CacheIndex>(table.read_choice("index", {"xor", "linear", "fermi"}));
  if (level == 1) {
    table.read("miss_latency", cache.miss_latency, 0, 1000);
    cache.store = static_cast<StorePolicy>(table.read_choice("store", {"evict", "through"}));
  } else {
    table.read("atomic_interval", cache.atomic_interval, 0, 64);
    table.read("store_interval", cache.store_interval, 0, 64);
    table.read("fills_partial_writes", cache.fills_partial_writes);
    table.read("writes_rows", cache.writes_rows);
  }
  table.finish();
  if (cache.bytes % (cache.ways * cache.line_bytes) != 0) {
    table.fail("bytes",
               fmt::format("must be a multiple of ways x {} bytes = {}", cache.line_bytes, cache.ways * cache.line_bytes));
  }
  if (cache.index == CacheIndex::Fermi && cache.bytes / (cache.ways * cache.line_bytes) > kMaxFermiSets)
    table.fail("index", fmt::format("\"fermi\" is known for at most {} sets of {} ways x {} bytes: take xor or linear",
                                    kMaxFermiSets, cache.ways, cache.line_bytes));
}

void read_fetch(TomlTable table, FetchConfig& fetch) {
  table.read("cache_bytes", fetch.cache_bytes, 0, 1U << 20);
  table.read("cache_ways", fetch.cache_ways, 1, 64);
  table.read("width", fetch.width, 1, 16);
  table.read("instruction_bytes", fetch.instruction_bytes, 4, 32);
  table.read("latency", fetch.latency, 1, 20);
  table.optional();
  table.read("prefetch_lines", fetch.prefetch_lines, 0, 64);
  table.finish();
  if (fetch.cache_bytes % (fetch.cache_ways * 128) != 0)
    table.fail("cache_bytes", fmt::format("must be a multiple of cache_ways x 128 bytes = {}", fetch.cache_ways * 128));
}

void read_sub_core(TomlTable table, SubCoreConfig& config) {
  config.modelled = true;
  for (const auto& [name, pipe] : {std::pair{"fma", Pipe::Fma},
                                   {"imad", Pipe::Imad},
                                   {"int", Pipe::Int},
                                   {"half", Pipe::Half},
                                   {"xu", Pipe::Xu},
                                   {"dp", Pipe::Dp},
                                   {"tensor", Pipe::Tensor},
                                   {"lane", Pipe::Lane},
                                   {"constant", Pipe::Constant},
                                   {"special", Pipe::Special}}) {
    PipeConfig& p = config.pipes[static_cast<std::size_t>(pipe)];
    table.read(fmt::format("{}_interval", name), p.interval, 1, 64);
    table.read(fmt::format("{}_latency", name), p.latency, 1, 200);
  }
  table.read("operand_read_latency", config.operand_read_latency, 1, 200);
  table.optional();
  table.read("register_banks", config.register_banks, 0, kMaxRegisterBanks);
  table.read("operand_slack", config.operand_slack, 0, 64);
  table.read("follows_yield", config.follows_yield);
  table.finish();
}

void read_sm(TomlTable table, SmConfig& sm) {
  table.read("threads", sm.capacity.threads, 32, 2048);
  if (sm.capacity.threads % kWarpSize != 0) table.fail("threads", "must be a multiple of 32");
  table.read("registers", sm.capacity.registers, 1, 65536);
  table.read("shared_memory_bytes", sm.capacity.shared_memory_bytes, 0, 262143);
  table.read("cta_slots", sm.capacity.cta_slots, 1, 32);
  table.read("schedulers", sm.schedulers, 1, kMaxSchedulers);
  sm.scheduler = static_cast<WarpSchedulerKind>(table.read_choice("scheduler", {"gto", "lrr", "two_level", "oldest_cta"}));
  table.read("alu_pipes", sm.alu_pipes, 1, 16);
  table.read("alu_latency", sm.alu_latency, 1, 60);
  table.read("sfu_latency", sm.sfu_latency, 1, 60);
  table.read("sfu_interval", sm.sfu_interval, 1, 32);
  table.read("shared_latency", sm.shared_latency, 1, 200);
  table.read("ldst_queue", sm.ldst_queue, 1, 64);
  table.read("store_credits", sm.store_credits, 1, 4096);
  read_cache(table.table("l1"), sm.l1, 1);
  table.optional();
  table.read("dp_latency", sm.dp_latency, 1, 200);
  table.read("dp_interval", sm.dp_interval, 1, 64);
  table.read("tensor_latency", sm.tensor_latency, 1, 200);
  table.read("tensor_interval", sm.tensor_interval, 1, 64);
  table.read("register_unit", sm.register_unit, 1, 1024);
  table.read("cta_launch_latency", sm.cta_launch_latency, 1, 100000);
  table.read("cta_launch_latency_apart", sm.cta_launch_latency_apart, 0, 100000);
  table.read("cta_launch_interval", sm.cta_launch_interval, 0, 100000);
  table.read("kernels_stay", sm.kernels_stay);
  table.read("barrier_latency", sm.barrier_latency, 1, 1000);
  table.read("barrier_interval", sm.barrier_interval, 0, 1000);
  table.read("ldst_interval", sm.ldst_interval, 1, 64);
  table.read("jump_latency", sm.jump_latency, 0, 1000);
  table.read("active_warps", sm.active_warps, 1, 64);
  table.read("cta_waits_for_stores", sm.cta_waits_for_stores);
  table.read("kernel_waits_for_stores", sm.kernel_waits_for_stores);
  if (auto fetch = table.optional_table("fetch")) read_fetch(*fetch, sm.fetch);
  if (auto sub_core = table.optional_table("sub_core")) read_sub_core(*sub_core, sm.sub_core);
  table.finish();
}

void read_interconnect(TomlTable table, InterconnectConfig& net) {
  table.read("latency", net.latency, 1, 1000);
  table.read("bytes_per_cycle", net.bytes_per_cycle, 1, 1024);
  table.read("header_bytes", net.header_bytes, 0, 64);
  table.optional();
  table.read("slice_bytes_per_cycle", net.slice_bytes_per_cycle, 0, 1024);
  table.read("to_l2_bytes_per_cycle", net.to_l2_bytes_per_cycle, 0, 1024);
  table.read("store_cycles", net.store_cycles, 1, 64);
  table.read("two_slices_a_kilobyte", net.two_slices_a_kilobyte);
  table.read("packed", net.packed);
  table.read("input_queued", net.input_queued);
  table.finish();
}

void read_dram(TomlTable table, DramConfig& dram) {
  table.read("channels", dram.channels, 1, 256);
  table.read("banks", dram.banks, 1, 256);
  table.read("clock_mhz", dram.clock_mhz, 1, 20000);
  table.read("row_bytes", dram.row_bytes, 128, 65536);
  table.read("bytes_per_cycle", dram.bytes_per_cycle, 1, 1024);
  table.read("access_bytes", dram.access_bytes, 32, 1024);
  table.read("queue_depth", dram.queue_depth, 1, 256);
  for (const auto& [key, value] : {std::pair{"t_cl", &dram.t_cl},
                                   {"t_rp", &dram.t_rp},
                                   {"t_rc", &dram.t_rc},
                                   {"t_ras", &dram.t_ras},
                                   {"t_rcd", &dram.t_rcd},
                                   {"t_rrd", &dram.t_rrd},
                                   {"t_wtr", &dram.t_wtr},
                                   {"t_wr", &dram.t_wr}}) {
    table.read(key, *value, 0, 1000);
  }
  table.optional();
  table.read("controller_latency", dram.controller_latency, 0, 10000);
  dram.scheduler = static_cast<DramScheduler>(table.read_choice("scheduler", {"bus", "bank"}));
  table.read("t_wl", dram.t_wl, 0, 1000);
  table.read("t_rtw", dram.t_rtw, 0, 1000);
  table.read("t_refi", dram.t_refi, 0, 1000000);
  table.read("t_rfc", dram.t_rfc, 0, 100000);
  table.read("joins_sectors", dram.joins_sectors);
  table.finish();
  if (dram.row_bytes % dram.access_bytes != 0)
    table.fail("row_bytes", fmt::format("must be a multiple of access_bytes = {}", dram.access_bytes));
  if (dram.t_refi != 0 && dram.t_rfc >= dram.t_refi)
    table.fail("t_rfc", fmt::format("must be less than t_refi = {}", dram.t_refi));
}

void read_balance(TomlTable& table, BalanceConfig& config) {
  table.optional();
  table.read("candidates", config.candidates, 0, 15);
  table.read("window_cycles", config.window_cycles, 1024, 65535);
  table.read("keep", config.keep, 0, 7.99);
  table.read("rounds", config.rounds, 1, 15);
  table.read("spacing", config.spacing, 0, 65535);
  table.read("unit", config.unit);
  table.read("alone", config.alone);
}

void read_partitioner(TomlTable table, PartitionerConfig& config) {
  table.optional();
  table.read("warm_up_cycles", config.warm_up_cycles, 0, 1048575);
  table.read("profile_cycles", config.profile_cycles, 1024, 65535);
  table.read("algorithm_delay", config.algorithm_delay, 0, 10000000);
  table.read("drain_cycles", config.drain_cycles, 0, 1044480);
  table.read("lines_per_cycle", config.lines_per_cycle, 0, 4096);
  table.read("loss_limit", config.loss_limit, 0, 3.99);
  table.read("epsilon", config.epsilon, 0, 1);
  table.read("monitor_threshold", config.monitor_threshold, 0, 1.99);
  table.read("monitor_window", config.monitor_window, 16, 65535);
  table.read("monitor_hold", config.monitor_hold, 1, 255);
  table.read("region_units", config.region_units, 0, 128);
  table.read("churn", config.churn, 0, 19);
  table.read("sm_enable", config.sm_enable);
  table.read("flush", config.flush);
  table.read("priority", config.priority);
  table.read("tail", config.tail);
  table.read("patience", config.patience, 0, 20);
  if (auto balance = table.optional_table("balance")) {
    read_balance(*balance, config.balance);
    balance->finish();
  }
  table.finish();
  if (config.balance.unit && config.churn != 0) table.fail("churn", "must be 0 with balance.unit");
  if (config.region_units != 0 && config.region_units < 16) table.fail("region_units", "must be 0 or 16..128");
}

void read_host(TomlTable table, HostConfig& host) {
  table.optional();
  for (const auto& [key, value] : {std::pair{"decide_us", &host.decide_us},
                                   {"launch_us", &host.launch_us},
                                   {"evict_us", &host.evict_us},
                                   {"pcie_read_us", &host.pcie_read_us}})
    table.read(key, *value, 0, 1e6);
  table.read("pcie_reads", host.pcie_reads, 1, 65536);
  table.finish();
}

void read_energy(TomlTable table, EnergyConfig& energy) {
  table.optional();
  for (const auto& [key, value] : {std::pair{"instruction", &energy.instruction},
                                   {"registers", &energy.registers},
                                   {"alu", &energy.alu},
                                   {"sfu", &energy.sfu},
                                   {"dp", &energy.dp},
                                   {"tensor", &energy.tensor},
                                   {"shared", &energy.shared},
                                   {"l1", &energy.l1},
                                   {"l2", &energy.l2},
                                   {"noc_byte", &energy.noc_byte},
                                   {"dram_byte", &energy.dram_byte},
                                   {"dram_activate", &energy.dram_activate},
                                   {"sm_clock_watts", &energy.sm_clock_watts},
                                   {"sm_leakage_watts", &energy.sm_leakage_watts}}) {
    table.read(key, *value, 0, 1e6);
  }
  table.finish();
}

}  // namespace

MachineConfig read_machine(const std::filesystem::path& path) { return read_machine(parse_toml(path), path); }

MachineConfig read_machine(const toml::table& file, const std::filesystem::path& path) {
  TomlTable root(path, "", file);
  MachineConfig machine;
  root.read("name", machine.name);
  root.read("num_sms", machine.num_sms, 1, 256);
  root.read("core_mhz", machine.core_mhz, 1, 10000);
  root.read("l2_slices", machine.l2_slices, 1, 256);
  read_sm(root.table("sm"), machine.sm);
  read_cache(root.table("l2"), machine.l2, 2);
  read_interconnect(root.table("interconnect"), machine.interconnect);
  read_dram(root.table("dram"), machine.dram);
  if (auto partitioner = root.optional_table("partitioner")) read_partitioner(*partitioner, machine.partitioner);
  if (auto host = root.optional_table("host")) read_host(*host, machine.host);
  if (auto energy = root.optional_table("energy")) read_energy(*energy, machine.energy);
  root.optional().read("cta_interval", machine.cta_interval, 0, 1000);
  root.finish();
  if (machine.l2_slices % machine.dram.channels != 0)
    root.fail("l2_slices", fmt::format("must be a multiple of dram.channels = {}", machine.dram.channels));
  const std::uint32_t patience = machine.partitioner.patience;
  if (patience != 0 && 1U << patience < 2 * machine.num_sms + 8)
    root.fail("partitioner.patience",
              fmt::format("must be 0, or 2^patience at least 2 x num_sms + 8 = {}", 2 * machine.num_sms + 8));
  if (machine.interconnect.two_slices_a_kilobyte && machine.l2_slices % 2 != 0)
    root.fail("l2_slices", "must be even with interconnect.two_slices_a_kilobyte");
  return machine;
}

namespace {

toml::table balance_table(std::string text) try {
  std::ranges::replace(text, ',', '\n');
  return toml::parse(text);
} catch (const toml::parse_error& error) {
  throw InputError(
      fmt::format("--balance: {}: must be like keep=1.1,candidates=4,weight.DXT=2,floor.DXT=0.5,unit=true", error.description()));
}

}  // namespace

void set_balance(const std::string& text, MachineConfig& machine, std::vector<KernelDescriptor>& kernels) {
  if (text.empty()) return;
  const toml::table given = balance_table(text);
  TomlTable root("--balance", "", given);
  read_balance(root, machine.partitioner.balance);
  auto weights = root.optional_table("weight"), floors = root.optional_table("floor");
  for (KernelDescriptor& kernel : kernels) {
    if (weights) weights->optional().read(kernel.name, kernel.wish.weight, kLeastWeight, kMostWeight);
    if (floors) floors->optional().read(kernel.name, kernel.wish.floor, 0, 1);
  }
  for (const auto& table : {root, weights.value_or(root), floors.value_or(root)}) table.finish();
}

std::map<std::string, BalanceWish> set_balance(const std::string& text, MachineConfig& machine) {
  std::vector<KernelDescriptor> named;
  const toml::table given = balance_table(text);
  for (const char* of : {"weight", "floor"})
    if (const toml::table* names = given[of].as_table())
      for (const auto& [name, value] : *names)
        if (std::ranges::find(named, name.str(), &KernelDescriptor::name) == named.end())
          named.emplace_back().name = std::string(name.str());
  set_balance(text, machine, named);
  std::map<std::string, BalanceWish> wishes;
  for (const KernelDescriptor& kernel : named) wishes[kernel.name] = kernel.wish;
  return wishes;
}

}  // namespace sluice
