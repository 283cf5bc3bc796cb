// SPDX-License-Identifier: Apache-2.0
#include "study/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/io/toml_reader.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"

namespace sluice {

namespace {

struct Parameter {
  std::string key;  ///< dotted, of the machine file
  std::vector<const toml::node*> values;
};

/// Of a word, a number, true or false; null: it is none of these
nlohmann::json json_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
  if (const auto real = node.value_exact<double>()) return *real;
  const auto truth = node.value_exact<bool>();
  return truth ? nlohmann::json(*truth) : nlohmann::json();
}

/// The table that holds the last part of a dotted key, made where it is missing; nullptr when a part is no table.
toml::table* table_of(toml::table& root, std::string& key) {
  toml::table* table = &root;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.')) {
    const std::string part = key.substr(0, dot);
    key = key.substr(dot + 1);
    if (!table->contains(part)) table->insert(part, toml::table{});
    table = (*table)[part].as_table();
    if (table == nullptr) return nullptr;
  }
  return table;
}

/// @throws InputError when a value comes twice: its points would count twice in every mean
void check_once(const TomlTable& root, std::string_view key, const auto& values) {
  for (auto v = values.begin(); v != values.end(); ++v)
    if (std::find(values.begin(), v, *v) != v) root.fail(key, fmt::format("{} comes twice", nlohmann::json(*v).dump()));
}

std::vector<std::string> strings(TomlTable& root, const toml::table& file, std::string_view key, bool required) {
  root.optional();
  std::vector<std::string> values;
  const toml::array* array = file[key].as_array();
  root.allow(key);
  if (array == nullptr) {
    if (required || file.contains(key)) root.fail(key, "must be an array of strings");
    return values;
  }
  for (const toml::node& node : *array) {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) root.fail(key, "must be an array of non-empty strings");
    values.push_back(*value);
  }
  if (values.empty()) root.fail(key, "must not be empty");
  check_once(root, key, values);
  return values;
}

std::vector<Parameter> read_parameters(const toml::table& file, TomlTable& root) {
  std::vector<Parameter> parameters;
  root.allow("parameters");
  if (!file.contains("parameters")) return parameters;
  const toml::table* table = file["parameters"].as_table();
  if (table == nullptr) root.fail("parameters", "must be a table: \"sm.scheduler\" = [\"gto\", \"lrr\"]");
  for (const auto& [key, node] : *table) {
    const toml::array* array = node.as_array();
    if (array == nullptr || array->empty()) root.fail("parameters", fmt::format("{}: must be an array of values", key.str()));
    Parameter parameter{std::string(key.str()), {}};
    for (const toml::node& value : *array) {
      if (json_of(value).is_null()) root.fail("parameters", fmt::format("{}: must be words, numbers, true or false", key.str()));
      parameter.values.push_back(&value);
    }
    nlohmann::json values;
    for (const toml::node* value : parameter.values) values.push_back(json_of(*value));
    check_once(root, "parameters", values);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// Every combination of the parameters' values on one machine file.
void add_machines(const std::filesystem::path& path, const std::vector<Parameter>& parameters, const TomlTable& root,
                  std::vector<SweepMachine>& machines) {
  std::size_t combinations = 1;
  for (const Parameter& p : parameters)
    if ((combinations *= p.values.size()) > 100000)
      root.fail("parameters", fmt::format("{} combinations: at most 100000", combinations));
  for (std::size_t c = 0; c < combinations; ++c) {
    toml::table machine = parse_toml(path);
    SweepMachine entry;
    std::size_t rest = c;
    for (const Parameter& p : parameters) {
      const toml::node& value = *p.values[rest % p.values.size()];
      rest /= p.values.size();
      std::string leaf = p.key;
      toml::table* table = table_of(machine, leaf);
      if (table == nullptr) root.fail("parameters", fmt::format("{}: {} has no such table", p.key, path.string()));
      table->insert_or_assign(leaf, value);
      const nlohmann::json& known = entry.parameters[p.key] = json_of(value);
      entry.label +=
          fmt::format(" {}={}", p.key, known.is_string() ? fmt::format("'{}'", known.get<std::string>()) : known.dump());
    }
    entry.config = read_machine(machine, path);
    entry.label = entry.config.name + entry.label;
    entry.text = machine_text(machine);
    machines.push_back(std::move(entry));
  }
}

}  // namespace

Sweep::Task Sweep::task(std::size_t index) const {
  return {index / (seeds.size() * mixes.size()), index / mixes.size() % seeds.size(), index % mixes.size()};
}

Sweep read_sweep(const std::filesystem::path& path, const std::vector<std::filesystem::path>& machines) {
  const toml::table file = parse_toml(path);
  TomlTable root(path, "", file);
  Sweep sweep;
  std::string mixes = "all";
  root.read("name", sweep.name);
  if (sweep.name.find_first_of("\"\n") != std::string::npos) root.fail("name", "must have no quotation mark and one line");
  root.read("workload", sweep.workload_file);
  const std::vector<std::string> machine_files = strings(root, file, "machines", true);
  sweep.policies = strings(root, file, "policies", true);
  root.read("mixes", mixes);
  root.read("window", sweep.window, 1000, 1000000000);
  sweep.partitioner = root.read_choice("partitioner", {"twin", "rtl"}) == 0 ? "twin" : "rtl";
  root.allow("seeds");
  if (const toml::array* seeds = file["seeds"].as_array()) {
    for (const toml::node& node : *seeds) {
      const auto seed = node.value_exact<std::int64_t>();
      if (!seed || *seed < 0) root.fail("seeds", "must be an array of whole numbers from 0");
      sweep.seeds.push_back(static_cast<std::uint64_t>(*seed));
    }
  } else if (file.contains("seeds")) {
    root.fail("seeds", "must be an array of whole numbers");
  }
  if (sweep.seeds.empty()) sweep.seeds = {1};
  check_once(root, "seeds", sweep.seeds);
  const std::vector<Parameter> parameters = read_parameters(file, root);
  root.finish();
  // Paths in the file are relative to the file.
  const std::filesystem::path base = path.parent_path();
  sweep.workload = read_workload(base / sweep.workload_file);
  for (const std::filesystem::path& machine : machines) add_machines(machine, parameters, root, sweep.machines);
  if (machines.empty())
    for (const std::string& machine : machine_files) add_machines(base / machine, parameters, root, sweep.machines);
  try {
    for (const Mix& mix : parse_mixes(sweep.workload, sweep.machines.front().config, mixes)) sweep.mixes.push_back(mix.name());
  } catch (const InputError& error) {
    root.fail("mixes", error.what());
  }
  check_once(root, "mixes", sweep.mixes);
  return sweep;
}

}  // namespace sluice
