// SPDX-License-Identifier: Apache-2.0
// The partition unit beside an SM model of one's own, in SystemC: a host programs the unit through its TLM socket, and two SMs
// run what it dispatches. Prints when each kernel ended.
#include <sluice_systemc.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdio>
#include <vector>

namespace {

const sc_core::sc_time kPeriod(1, sc_core::SC_NS);
constexpr unsigned kSms = 2, kSlots = 4;

/// Runs CTAs: each takes a fixed time, and reports its end.
struct Sm {
  struct Cta {
    bool there = false;
    sc_core::sc_time ends;
  };
  std::array<Cta, kSlots> ctas;
};

SC_MODULE(Gpu) {
  sluice::UnitModule unit;
  std::array<Sm, kSms> sms;
  unsigned ended = 0;

  explicit Gpu(sc_core::sc_module_name name)
      : sc_module(name), unit("unit", {kSms, 2, kSlots, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, kPeriod) {
    SC_HAS_PROCESS(Gpu);
    SC_THREAD(clock);
  }
  void clock() {
    for (; ended < 2; wait(kPeriod)) {
      const sluice_unit_out out = unit.outputs();
      sluice_unit_in in = {};
      in.dispatch_ready = 1;
      if (out.dispatch_valid != 0)
        sms[out.dispatch_sm].ctas[out.dispatch_slot] = {
            true, sc_core::sc_time_stamp() + (out.dispatch_kernel == 0 ? 500 : 900) * kPeriod};
      for (unsigned k = 0; k < 2; ++k) {
        if (((out.kernel_done >> k) & 1U) == 0) continue;
        std::printf("kernel %u ended after %.0f ns\n", k, sc_core::sc_time_stamp().to_seconds() * 1e9);
        ++ended;
      }
      for (unsigned m = 0; m < kSms; ++m)
        for (unsigned s = 0; s < kSlots; ++s) {
          Sm::Cta& cta = sms[m].ctas[s];
          if (!cta.there || cta.ends > sc_core::sc_time_stamp() || in.done_valid != 0) continue;
          cta.there = false;
          in.done_valid = 1;
          in.done_sm = static_cast<uint8_t>(m);
          in.done_slot = static_cast<uint8_t>(s);
        }
      unit.clock(in);
    }
    sc_core::sc_stop();
  }
};

SC_MODULE(Host) {
  tlm_utils::simple_initiator_socket<Host> bus;
  sluice_unit* unit = nullptr;  ///< for the calls that write many registers

  explicit Host(sc_core::sc_module_name name) : sc_module(name), bus("bus") {
    SC_HAS_PROCESS(Host);
    SC_THREAD(run);
  }
  std::uint32_t read(std::uint32_t address) {
    std::uint32_t data = 0;
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay;
    bus->b_transport(payload, delay);
    wait(delay);
    return data;
  }
  void run() {
    const sluice_sm sm = {1024, 32768, 32768, kSlots};
    const sluice_kernel kernels[] = {{"a", 20, 256, 4096, 0, nullptr, 0}, {"b", 10, 256, 4096, 8192, nullptr, 0}};
    std::printf("ID register: %08x\n", read(0));
    sluice::UnitModule::require(sluice_unit_set_machine(unit, &sm));
    sluice::UnitModule::require(sluice_unit_set_mode(unit, "even"));
    for (unsigned k = 0; k < 2; ++k) sluice::UnitModule::require(sluice_unit_launch(unit, k, &kernels[k]));
  }
};

}  // namespace

int sc_main(int, char**) {
  Gpu gpu("gpu");
  Host host("host");
  host.bus.bind(gpu.unit.registers);
  host.unit = gpu.unit.unit();
  sc_core::sc_start();
  return 0;
}
