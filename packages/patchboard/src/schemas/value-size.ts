/** Returns whether a value contains at most `maxNodes` values and nests no deeper than `maxDepth` (false for a cycle). */
export function isSmall(value: unknown, maxNodes: number, maxDepth: number): boolean {
  return countNodes(value, maxNodes, maxDepth) >= 0;
}

/** Returns how many nodes are left; negative if there are too many. */
function countNodes(value: unknown, nodesLeft: number, depthLeft: number): number {
  let left = nodesLeft - 1;
  if (typeof value !== 'object' || value === null) return left;
  if (depthLeft === 0) return -1;
  for (const member of Object.values(value)) {
    if (left < 0) return left;
    left = countNodes(member, left, depthLeft - 1);
  }
  return left;
}
