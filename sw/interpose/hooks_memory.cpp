// SPDX-License-Identifier: Apache-2.0
// Allocations of the GPU's memory, and what is told of how much there is.
#include <algorithm>

#include "sw/interpose/hooks.h"
#include "sw/interpose/memory.h"
#include "sw/interpose/program.h"

namespace sluice::interpose {

namespace {

using Kind = Memory::Kind;
Memory& memory() { return Memory::instance(); }
Memory::Key key(CUdeviceptr pointer) { return {Kind::Pointer, pointer}; }
Memory::Key key(const void* array) { return {Kind::Array, reinterpret_cast<std::uintptr_t>(array)}; }

template <Symbol Own, class... Rest>
CUresult allocate(CUdeviceptr* pointer, std::size_t bytes, Rest... rest) {
  return memory().allocate(
      bytes, [&] { return real<CUresult(CUdeviceptr*, std::size_t, Rest...)>(Own)(pointer, bytes, rest...); },
      [&] { return key(*pointer); });
}
CUresult allocate_rows(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width, std::size_t rows, unsigned element) {
  constexpr std::size_t kPitch = 512;  // of every GPU of today
  return memory().allocate((width + kPitch - 1) / kPitch * kPitch * rows,
                           [&] { return SLUICE_REAL(cuMemAllocPitch_v2)(pointer, pitch, width, rows, element); },
                           [&] { return key(*pointer); });
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* what,
                unsigned long long flags) {
  const auto driver = [&] { return SLUICE_REAL(cuMemCreate)(handle, bytes, what, flags); };
  if (what == nullptr || what->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return driver();
  return memory().allocate(
      bytes, driver,
      [&] {
        return Memory::Key{Kind::Handle, *handle};
      },
      what->location.id);
}

std::uint64_t bytes_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    default: return 4;  // of the formats that are compressed or interleaved an upper bound
  }
}
std::uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return std::uint64_t{d.Width} * std::max<std::size_t>(d.Height, 1) * std::max<std::size_t>(d.Depth, 1) *
         std::max(d.NumChannels, 1U) * bytes_of(d.Format);
}
CUresult create_array(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  const CUDA_ARRAY3D_DESCRIPTOR all =
      d == nullptr ? CUDA_ARRAY3D_DESCRIPTOR{} : CUDA_ARRAY3D_DESCRIPTOR{d->Width, d->Height, 1, d->Format, d->NumChannels, 0};
  return memory().allocate(
      bytes_of(all), [&] { return SLUICE_REAL(cuArrayCreate_v2)(array, d); }, [&] { return key(*array); });
}
CUresult create_array_3d(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return memory().allocate(
      d == nullptr ? 0 : bytes_of(*d), [&] { return SLUICE_REAL(cuArray3DCreate_v2)(array, d); }, [&] { return key(*array); });
}
CUresult create_mipmapped(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* d, unsigned levels) {
  std::uint64_t bytes = 0;
  CUDA_ARRAY3D_DESCRIPTOR level = d == nullptr ? CUDA_ARRAY3D_DESCRIPTOR{} : *d;
  for (unsigned i = 0; i < std::min(levels, 32U); ++i) {
    bytes += bytes_of(level);
    for (std::size_t* side : {&level.Width, &level.Height, &level.Depth}) *side = *side > 1 ? *side / 2 : *side;
  }
  return memory().allocate(
      bytes, [&] { return SLUICE_REAL(cuMipmappedArrayCreate)(array, d, levels); }, [&] { return key(*array); });
}

template <class Driver>
CUresult give_back(const Memory::Key& what, const Driver& driver) {
  const std::uint64_t bytes = memory().freed(what);
  const CUresult result = driver();
  if (result != CUDA_SUCCESS) memory().add(what, bytes);
  return result;
}
CUresult free_pointer(CUdeviceptr pointer) {
  const Program::Drain drain(Program::instance());  // hooks_wait.cpp
  return give_back(key(pointer), [&] { return SLUICE_REAL(cuMemFree_v2)(pointer); });
}
template <Symbol Own>
CUresult free_async(CUdeviceptr pointer, CUstream stream) {
  return give_back(key(pointer), [&] { return real<decltype(cuMemFreeAsync)>(Own)(pointer, stream); });
}
CUresult release(CUmemGenericAllocationHandle handle) {
  return give_back({Kind::Handle, handle}, [&] { return SLUICE_REAL(cuMemRelease)(handle); });
}
CUresult destroy_array(CUarray array) {
  return give_back(key(array), [&] { return SLUICE_REAL(cuArrayDestroy)(array); });
}
CUresult destroy_mipmapped(CUmipmappedArray array) {
  return give_back(key(array), [&] { return SLUICE_REAL(cuMipmappedArrayDestroy)(array); });
}

CUresult info(std::size_t* free, std::size_t* total) {
  const CUresult result = SLUICE_REAL(cuMemGetInfo_v2)(free, total);
  const MemoryFigures is = memory().figures();
  if (result != CUDA_SUCCESS || is.limit == 0 || free == nullptr || total == nullptr) return result;
  *total = std::min<std::size_t>(*total, is.limit);
  *free = std::min<std::size_t>(*free, is.limit - std::min(is.limit, is.used));
  return result;
}
CUresult add_allocation(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                        CUDA_MEM_ALLOC_NODE_PARAMS* what) {
  if (memory().refuse_nodes()) return CUDA_ERROR_OUT_OF_MEMORY;
  return SLUICE_REAL(cuGraphAddMemAllocNode)(node, graph, after, count, what);
}
template <Symbol Own, class... Edges>
CUresult add_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, Edges... edges, std::size_t count,
                  CUgraphNodeParams* what) {
  if (what != nullptr && what->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && memory().refuse_nodes()) return CUDA_ERROR_OUT_OF_MEMORY;
  return real<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, Edges..., std::size_t, CUgraphNodeParams*)>(Own)(
      node, graph, after, edges..., count, what);
}

}  // namespace

void* memory_hook(Symbol symbol) {
  if (!Memory::counts()) return nullptr;
  switch (symbol) {
    case kcuMemAlloc_v2: return address(allocate<kcuMemAlloc_v2>);
    case kcuMemAllocManaged: return address(allocate<kcuMemAllocManaged, unsigned>);
    case kcuMemAllocAsync: return address(allocate<kcuMemAllocAsync, CUstream>);
    case kcuMemAllocAsync_ptsz: return address(allocate<kcuMemAllocAsync_ptsz, CUstream>);
    case kcuMemAllocFromPoolAsync: return address(allocate<kcuMemAllocFromPoolAsync, CUmemoryPool, CUstream>);
    case kcuMemAllocFromPoolAsync_ptsz: return address(allocate<kcuMemAllocFromPoolAsync_ptsz, CUmemoryPool, CUstream>);
    case kcuMemAllocPitch_v2: return address(allocate_rows);
    case kcuMemCreate: return address(create);
    case kcuArrayCreate_v2: return address(create_array);
    case kcuArray3DCreate_v2: return address(create_array_3d);
    case kcuMipmappedArrayCreate: return address(create_mipmapped);
    case kcuMemFree_v2: return address(free_pointer);
    case kcuMemFreeAsync: return address(free_async<kcuMemFreeAsync>);
    case kcuMemFreeAsync_ptsz: return address(free_async<kcuMemFreeAsync_ptsz>);
    case kcuMemRelease: return address(release);
    case kcuArrayDestroy: return address(destroy_array);
    case kcuMipmappedArrayDestroy: return address(destroy_mipmapped);
    case kcuMemGetInfo_v2: return address(info);
    case kcuGraphAddMemAllocNode: return address(add_allocation);
    case kcuGraphAddNode: return address(add_node<kcuGraphAddNode>);
    case kcuGraphAddNode_v2: return address(add_node<kcuGraphAddNode_v2, const CUgraphEdgeData*>);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
