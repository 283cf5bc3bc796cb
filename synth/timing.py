# SPDX-License-Identifier: Apache-2.0
"""Static timing of a mapped netlist with OpenSTA: smallest period and the path that sets it. The clock is ideal (no clock tree)."""
import re
import subprocess

TCL = """read_liberty cells.lib
read_verilog netlist.v
link_design {module}
create_clock -name clk -period {period} [get_ports clk_i]
set_clock_uncertainty {uncertainty} [get_clocks clk]
set data_in [list]
foreach p [all_inputs] {{ if {{[get_property $p full_name] != "clk_i"}} {{ lappend data_in $p }} }}
if {{[llength $data_in]}} {{ set_input_delay {share} -clock clk $data_in }}
set_output_delay {share} -clock clk [all_outputs]
catch {{ set_false_path -from [get_ports *rst_ni] }}
set_driving_cell -lib_cell {driver} $data_in
set_load 0.005 [all_outputs]
puts "=== worst"
report_checks -path_delay max -format full -digits 4 -fields {{net}}
puts "=== register"
report_checks -path_delay max -from [all_registers -clock_pins] -to [all_registers -data_pins] -format summary -digits 4
puts "=== power"
{power}
exit
"""


def run_sta(work, tcl):
    (work / "sta.tcl").write_text(tcl)
    run = subprocess.run(["sta", "-no_splash", "-exit", "sta.tcl"], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    (work / "sta.log").write_text(run.stdout)
    return run.stdout


def worst_path(text):
    """(slack, startpoint, endpoint, cells on it) of the worst path of a report that shows one of each path group."""
    paths = []
    for part in text.split("Startpoint: ")[1:]:
        slack = re.search(r"(-?\d+\.\d+)\s+slack", part)
        if slack:
            cells = re.findall(r"[v^] (\S+)/\S+ \((\w+)\)", part.split("data arrival time")[0])
            paths.append((float(slack[1]), part.split()[0], re.search(r"Endpoint: (\S+)", part)[1], cells))
    return min(paths, default=None)


def analyse(work, module, library, period_ns, with_power=True, share=0.0, uncertainty=0.0):
    """{fmax_mhz, period_ns, start, end, path_cells, sta_leakage_mw} of a mapped module. The period is searched: paths through latches borrow time.
    share: of the period that inputs and outputs each take outside; uncertainty: of the clock, a fraction of the period.
    OpenSTA's report of power does not end where registers are latches: without it no leakage is given."""
    driver = library.inverter(2).name
    period, limiting, failed, met, text = period_ns, None, None, None, ""
    while met is None or failed is None or met - failed > 0.002:
        text = run_sta(work, TCL.format(module=module, period=f"{period:.4f}", driver=driver, share=f"{share * period:.4f}",
                                         uncertainty=f"{uncertainty * period:.4f}",
                                         power="catch { report_power -digits 6 }" if with_power else ""))
        if "Error" in text:
            said = next(line for line in text.splitlines() if "Error" in line)
            raise SystemExit(f"synth: OpenSTA failed, see {work}/sta.log: {said.replace('cells.lib', str(library.path))}")
        path = worst_path(text.split("=== worst")[1])
        if path is None:
            return {"fmax_mhz": None, "period_ns": None, "start": "", "end": "", "path_cells": [], "sta_leakage_mw": leakage(text)}
        if path[0] < -0.002:
            failed, limiting = period, path
            period -= path[0]
        else:
            met, limiting = period, limiting or path
            if abs(path[0]) < 0.002 and failed is None:
                break   # where the period is met, paths that borrow from a latch show a slack of zero
            period -= path[0]
        # A path that ends at a latch may miss by twice what the period must grow: between a period that fails and one that is met, half.
        if failed is not None and met is not None:
            period = (failed + met) / 2
    period = met
    return {"fmax_mhz": round(1000 / period, 1), "period_ns": round(period, 4), "start": limiting[1], "end": limiting[2], "path_cells": limiting[3],
            "sta_leakage_mw": leakage(text)}


def leakage(text):
    """OpenSTA's, None where it gives up: its internal power is not a number for some netlists."""
    total = re.search(r"^Total\s+(\S+)\s+(\S+)\s+(\S+)", text.split("=== power")[1], re.M)
    return round(float(total[3]) * 1e3, 6) if total else None
