rtl/example/example_pkg.sv
rtl/example/example_decode.sv
rtl/example/example_lane.sv
rtl/example/example_cta_slots.sv
rtl/example/example_sm.sv
rtl/example/example_memory.sv
rtl/example/example_gpu.sv
