/** Whether a value has at most `maxNodes` values in it, and nests no deeper than `maxDepth` (a cycle does). */
export function isSmall(value: unknown, maxNodes: number, maxDepth: number): boolean {
  return countNodes(value, maxNodes, maxDepth) >= 0;
}

/** Answers how many more there may be; negative when there are too many. */
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
