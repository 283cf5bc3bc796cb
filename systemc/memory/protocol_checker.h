// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <unordered_map>
#include <vector>

namespace sluice {

/// The TLM-2.0 base protocol's rules for one socket (IEEE 1666-2011, section 15.2), as a state machine over the non-blocking
/// calls and their returns: phases in order, at most one request and one response under way, a valid response status, and nothing
/// but the response status changed by the target.
class ProtocolRules {
 public:
  void forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase);
  void forward_returned(tlm::tlm_generic_payload& payload, tlm::tlm_sync_enum status, const tlm::tlm_phase& phase);
  void backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase);
  void backward_returned(tlm::tlm_generic_payload& payload, tlm::tlm_sync_enum status, const tlm::tlm_phase& phase);
  /// At the end of a run that drained: every transaction must be complete.
  void finish();

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }

 private:
  enum class Stage { Requesting, Requested, Responding };
  struct Transaction {
    Stage stage = Stage::Requesting;
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address = 0;
    unsigned length = 0;
  };
  void violated(const std::string& rule);
  void begin_response(tlm::tlm_generic_payload& payload, Transaction& transaction);
  void end(tlm::tlm_generic_payload& payload);

  std::unordered_map<const tlm::tlm_generic_payload*, Transaction> open_;
  const tlm::tlm_generic_payload* requesting_ = nullptr;
  const tlm::tlm_generic_payload* responding_ = nullptr;
  std::vector<std::string> violations_;
  std::uint64_t transactions_ = 0;
};

/// Sits between an initiator and a target and passes everything on, unchanged and without delay.
class ProtocolChecker : public sc_core::sc_module {
 public:
  explicit ProtocolChecker(const sc_core::sc_module_name& name);
  tlm_utils::simple_target_socket<ProtocolChecker> from_initiator;
  tlm_utils::simple_initiator_socket<ProtocolChecker> to_target;
  ProtocolRules rules;

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
};

}  // namespace sluice
