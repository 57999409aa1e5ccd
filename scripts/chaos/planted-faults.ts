import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import type { RecordEffect } from './effects.ts';

/**
 * Faults that break a guarantee on purpose, to show that the checker finds them: the store acknowledges a call before its
 * commit, forgets an idempotency key, or reads a call as it was 2 seconds ago, or the effect of a tool happens twice.
 */
export const PLANTED_FAULTS = [
  'early-acknowledgement',
  'forgotten-key',
  'repeated-effect',
  'stale-read',
] as const;

export type PlantedFault = (typeof PLANTED_FAULTS)[number];

/** How long after its acknowledgement a call is committed. */
const LATE_MS = 300;

const STALE_MS = 2000;

export function faultyStore(store: Store, fault: PlantedFault | null): Store {
  if (fault === 'stale-read') return staleStore(store);
  if (fault !== 'early-acknowledgement' && fault !== 'forgotten-key') return store;
  const commits = new Map<string, Promise<unknown>>();
  const insertCall: Store['insertCall'] = (record) => {
    if (fault === 'forgotten-key') return store.insertCall({ ...record, idempotency: null });
    commits.set(
      record.call.id,
      pause(LATE_MS, undefined, { ref: false }).then(() => store.insertCall(record)),
    );
    return { kind: 'inserted' };
  };
  const replaceCall: Store['replaceCall'] = async (call, ...others) => {
    await commits.get(call.id);
    return await store.replaceCall(call, ...others);
  };
  return withMethods(store, { insertCall, replaceCall });
}

/** A cache that a node of several must not have. */
function staleStore(store: Store): Store {
  const read = new Map<
    string,
    { readonly at: number; readonly call: Awaited<ReturnType<Store['findCall']>> }
  >();
  const findCall: Store['findCall'] = async (id) => {
    const known = read.get(id);
    if (known !== undefined && performance.now() - known.at < STALE_MS) return known.call;
    const call = await store.findCall(id);
    read.set(id, { at: performance.now(), call });
    return call;
  };
  return withMethods(store, { findCall });
}

function withMethods(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name in methods) return methods[name as keyof Store];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}

export function faultyEffects(record: RecordEffect, fault: PlantedFault | null): RecordEffect {
  if (fault !== 'repeated-effect') return record;
  return (effect) => {
    record(effect);
    record(effect);
  };
}
