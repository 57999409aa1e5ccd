import { useRoute, useRouter, type RouteLocationRaw } from 'vue-router';

/** The list that each detail page belongs to. */
const LIST_OF: Readonly<Record<string, string>> = {
  call: 'calls',
  run: 'runs',
  trace: 'runs',
  compare: 'runs',
};

/** Pages that no detail is opened from. */
const NO_ORIGIN: ReadonlySet<string> = new Set(['login', 'nowhere']);

/** Name of the page of the navigation that a page belongs to: itself, or the list of a detail. */
export function sectionOf(page: string): string {
  return LIST_OF[page] ?? page;
}

export interface BackPage {
  /** Name of its route. */
  readonly name: string;
  readonly to: RouteLocationRaw;
  readonly go: () => void;
}

/**
 * Returns a function that finds where a detail leads back to: the page of the console that it was opened from, as the user
 * left it; else its list. Null on other pages. Reactive to the route.
 */
export function useBackPage(): () => BackPage | null {
  const route = useRoute();
  const router = useRouter();
  return () => {
    const list = LIST_OF[String(route.name)];
    if (list === undefined || !router.hasRoute(list)) return null;
    const { back } = (history.state ?? {}) as { readonly back?: unknown };
    const origin = typeof back === 'string' ? router.resolve(back) : null;
    const name = String(origin?.name ?? '');
    if (origin !== null && router.hasRoute(name) && !NO_ORIGIN.has(name))
      return { name, to: origin.fullPath, go: () => router.back() };
    const to = { name: list };
    return { name: list, to, go: () => void router.push(to).catch(() => undefined) };
  };
}
