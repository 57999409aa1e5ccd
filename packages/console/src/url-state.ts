import { computed, nextTick, shallowReactive, type WritableComputedRef } from 'vue';
import { useRoute, useRouter, type Router } from 'vue-router';

/** What was set and is not yet in the address. Whoever reads it sees it at once: keys may come faster than navigation. */
const waiting = shallowReactive(new Map<string, string | undefined>());
let isScheduled = false;

/** Several parts of the address may change at once; they go into one step. */
async function write(router: Router): Promise<void> {
  await nextTick();
  isScheduled = false;
  const changes = new Map(waiting);
  const { path, query, hash } = router.currentRoute.value;
  await router.replace({ path, hash, query: { ...query, ...Object.fromEntries(changes) } });
  for (const [name, value] of changes) {
    if (waiting.get(name) === value) waiting.delete(name);
  }
}

/** A part of the view that is kept in the address, where a link, a reload and the back button find it. */
export function useUrlState(name: string, otherwise = ''): WritableComputedRef<string> {
  const route = useRoute();
  const router = useRouter();
  return computed({
    get() {
      const value = waiting.has(name) ? waiting.get(name) : route.query[name];
      return typeof value === 'string' ? value : otherwise;
    },
    set(value) {
      waiting.set(name, value === otherwise ? undefined : value);
      if (isScheduled) return;
      isScheduled = true;
      write(router).catch(() => waiting.clear());
    },
  });
}
