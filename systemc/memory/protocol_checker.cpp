// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/protocol_checker.h"

namespace sluice {

void ProtocolRules::violated(const std::string& rule) {
  if (violations_.size() < 100) violations_.push_back(rule);
}

void ProtocolRules::end(tlm::tlm_generic_payload& payload) {
  if (requesting_ == &payload) requesting_ = nullptr;
  if (responding_ == &payload) responding_ = nullptr;
  open_.erase(&payload);
}

void ProtocolRules::begin_response(tlm::tlm_generic_payload& payload, Transaction& transaction) {
  if (transaction.stage == Stage::Responding) violated("BEGIN_RESP comes twice");
  if (requesting_ == &payload) requesting_ = nullptr;  // BEGIN_RESP implies END_REQ
  if (responding_ != nullptr) violated("BEGIN_RESP while another response has not ended");
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) violated("BEGIN_RESP without a response status");
  if (payload.get_command() != transaction.command || payload.get_address() != transaction.address ||
      payload.get_data_length() != transaction.length)
    violated("the target changed command, address or length");
  transaction.stage = Stage::Responding;
  responding_ = &payload;
}

void ProtocolRules::forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
  if (phase == tlm::BEGIN_REQ) {
    if (open_.contains(&payload)) violated("BEGIN_REQ for a transaction that is under way");
    if (requesting_ != nullptr) violated("BEGIN_REQ before the last request ended");
    if (!payload.has_mm()) violated("a transaction without memory manager");
    if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) violated("BEGIN_REQ with a response status");
    open_[&payload] = {Stage::Requesting, payload.get_command(), payload.get_address(), payload.get_data_length()};
    requesting_ = &payload;
    ++transactions_;
  } else if (phase == tlm::END_RESP) {
    if (responding_ != &payload) violated("END_RESP without BEGIN_RESP");
  } else {
    violated("a phase on the forward path other than BEGIN_REQ and END_RESP");
  }
}

void ProtocolRules::forward_returned(tlm::tlm_generic_payload& payload, tlm::tlm_sync_enum status, const tlm::tlm_phase& phase) {
  const auto found = open_.find(&payload);
  if (found == open_.end()) return;
  if (found->second.stage == Stage::Responding || status == tlm::TLM_COMPLETED) {
    end(payload);
  } else if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    requesting_ = nullptr;
    found->second.stage = Stage::Requested;
  } else if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
    begin_response(payload, found->second);
  } else if (status == tlm::TLM_UPDATED) {
    violated("a request returned with a phase other than END_REQ and BEGIN_RESP");
  }
}

void ProtocolRules::backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
  const auto found = open_.find(&payload);
  if (found == open_.end()) {
    violated("a backward call for a transaction that is not under way");
  } else if (phase == tlm::END_REQ) {
    if (found->second.stage != Stage::Requesting) violated("END_REQ comes twice");
    requesting_ = nullptr;
    found->second.stage = Stage::Requested;
  } else if (phase == tlm::BEGIN_RESP) {
    begin_response(payload, found->second);
  } else {
    violated("a phase on the backward path other than END_REQ and BEGIN_RESP");
  }
}

void ProtocolRules::backward_returned(tlm::tlm_generic_payload& payload, tlm::tlm_sync_enum status, const tlm::tlm_phase& phase) {
  const auto found = open_.find(&payload);
  if (found == open_.end() || found->second.stage != Stage::Responding) return;
  if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    end(payload);
  } else if (status == tlm::TLM_UPDATED) {
    violated("a response returned with a phase other than END_RESP");
  }
}

void ProtocolRules::finish() {
  if (!open_.empty()) violated("transactions that never ended: " + std::to_string(open_.size()));
}

ProtocolChecker::ProtocolChecker(const sc_core::sc_module_name& name)
    : sc_module(name), from_initiator("from_initiator"), to_target("to_target") {
  from_initiator.register_nb_transport_fw(this, &ProtocolChecker::forward);
  to_target.register_nb_transport_bw(this, &ProtocolChecker::backward);
}

tlm::tlm_sync_enum ProtocolChecker::forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  rules.forward(payload, phase);
  const tlm::tlm_sync_enum status = to_target->nb_transport_fw(payload, phase, delay);
  rules.forward_returned(payload, status, phase);
  return status;
}

tlm::tlm_sync_enum ProtocolChecker::backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  rules.backward(payload, phase);
  payload.acquire();  // the initiator may drop its last reference inside the call
  const tlm::tlm_sync_enum status = from_initiator->nb_transport_bw(payload, phase, delay);
  rules.backward_returned(payload, status, phase);
  payload.release();
  return status;
}

}  // namespace sluice
