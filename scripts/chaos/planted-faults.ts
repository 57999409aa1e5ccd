import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import type { RecordEffect } from './effects.ts';

/**
 * Faults that break a guarantee on purpose, to show that the checker finds them: the store acknowledges a call before its
 * commit, or forgets an idempotency key, or the effect of a tool happens twice.
 */
export const PLANTED_FAULTS = ['early-acknowledgement', 'forgotten-key', 'repeated-effect'] as const;

export type PlantedFault = (typeof PLANTED_FAULTS)[number];

/** How long after its acknowledgement a call is committed. */
const LATE_MS = 300;

export function faultyStore(store: Store, fault: PlantedFault | null): Store {
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
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'insertCall') return insertCall;
      if (name === 'replaceCall') return replaceCall;
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
