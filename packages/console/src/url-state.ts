import {
  computed,
  nextTick,
  shallowReactive,
  toValue,
  type MaybeRefOrGetter,
  type WritableComputedRef,
} from 'vue';
import { useRoute, useRouter, type Router } from 'vue-router';

/**
 * Values that were set but are not yet in the URL. Readers see them at once, because keys may be pressed
 * faster than navigation completes.
 */
const waiting = shallowReactive(new Map<string, string | undefined>());
let isScheduled = false;
let isPushed = false;

/** Changes made in the same tick become one navigation. */
async function write(router: Router): Promise<void> {
  await nextTick();
  const replace = !isPushed;
  isScheduled = false;
  isPushed = false;
  const changes = new Map(waiting);
  const { path, query, hash } = router.currentRoute.value;
  await router.push({ path, hash, replace, query: { ...query, ...Object.fromEntries(changes) } });
  for (const [name, value] of changes) {
    if (waiting.get(name) === value) waiting.delete(name);
  }
}

/** `hasHistory`: each value is an entry of the browser's history, so that the back button returns to the one before. */
export interface UrlStateOptions {
  readonly hasHistory?: boolean;
}

/** View state that is stored in the URL, so that links, reloads and the back button restore it. */
export function useUrlState(
  name: string,
  otherwise = '',
  { hasHistory = false }: UrlStateOptions = {},
): WritableComputedRef<string> {
  const route = useRoute();
  const router = useRouter();
  return computed({
    get() {
      const value = waiting.has(name) ? waiting.get(name) : route.query[name];
      return typeof value === 'string' ? value : otherwise;
    },
    set(value) {
      waiting.set(name, value === otherwise ? undefined : value);
      isPushed ||= hasHistory;
      if (isScheduled) return;
      isScheduled = true;
      write(router).catch(() => waiting.clear());
    },
  });
}

/** The same for one of several values. Any other text in the URL counts as `otherwise`. */
export function useUrlChoice<T extends string>(
  name: string,
  choices: MaybeRefOrGetter<readonly T[]>,
  otherwise: T,
  options?: UrlStateOptions,
): WritableComputedRef<T> {
  const text = useUrlState(name, otherwise, options);
  return computed({
    get: () => toValue(choices).find((choice) => choice === text.value) ?? otherwise,
    set: (choice) => (text.value = choice),
  });
}
