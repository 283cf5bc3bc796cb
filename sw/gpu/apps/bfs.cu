// SPDX-License-Identifier: Apache-2.0
// One level of a breadth-first search: every node of the frontier reaches its unvisited neighbours. A thread looks after one node;
// the same value is written whoever writes it.
__global__ void __launch_bounds__(512) bfs(const unsigned* __restrict__ row, const unsigned* __restrict__ edge,
                                           const unsigned char* __restrict__ frontier, const unsigned char* __restrict__ visited,
                                           unsigned* cost, unsigned char* reached, unsigned level, unsigned nodes) {
  const unsigned node = blockIdx.x * 512 + threadIdx.x;
  if (node >= nodes || !frontier[node]) return;
  const unsigned end = row[node + 1];
  for (unsigned e = row[node]; e < end; ++e) {
    const unsigned to = edge[e];
    if (!visited[to]) {
      cost[to] = level + 1;
      reached[to] = 1;
    }
  }
}
