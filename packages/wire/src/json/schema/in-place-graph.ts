import { reason } from '../../reasons/reason-text.ts';
import { SchemaProblem } from './schema-problem.ts';

/** A schema, with the indexes of the schemas that it applies to the same value. */
export interface Vertex {
  readonly index: number;
  readonly pointer: string;
  readonly inPlace: number[];
}

export function addVertex(graph: Vertex[], pointer: string): Vertex {
  const vertex: Vertex = { index: graph.length, pointer, inPlace: [] };
  graph.push(vertex);
  return vertex;
}

/**
 * Throws a `SchemaProblem` for a schema that checks one value endlessly or more than `maxChecks` times: a few lines of
 * `allOf` and `$ref` can double the checks thirty times. The step budget bounds growth with the depth of the value.
 */
export function refuseMultiplying(graph: readonly Vertex[], maxChecks: number): void {
  const checks = new Float64Array(graph.length);
  for (const { index, pointer, inPlace } of topologicalOrder(graph).toReversed()) {
    let total = 1;
    for (const applied of inPlace) total += checks[applied] ?? 0;
    if (total > maxChecks) throw new SchemaProblem(pointer, reason('schema_multiplies'));
    checks[index] = total;
  }
}

/** Returns each schema before those that it applies to the same value. Throws a `SchemaProblem` for a cycle. */
function topologicalOrder(graph: readonly Vertex[]): readonly Vertex[] {
  const incoming = new Int32Array(graph.length);
  for (const { inPlace } of graph) for (const index of inPlace) incoming[index] = (incoming[index] ?? 0) + 1;
  const order = graph.filter(({ index }) => incoming[index] === 0);
  // The list grows during iteration: a schema is added after the last one that applies it.
  for (const { inPlace } of order) {
    for (const index of inPlace) {
      const left = (incoming[index] ?? 0) - 1;
      incoming[index] = left;
      const vertex = graph[index];
      if (left === 0 && vertex !== undefined) order.push(vertex);
    }
  }
  const inCycle = graph.find(({ index }) => (incoming[index] ?? 0) > 0);
  if (inCycle === undefined) return order;
  throw new SchemaProblem(inCycle.pointer, reason('schema_refers_to_itself'));
}
