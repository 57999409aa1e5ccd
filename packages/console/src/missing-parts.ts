import { reactive, readonly } from 'vue';
import type { Router } from 'vue-router';
import { onResume } from './data/live.ts';

const KEY = 'patchboard.began-again';
const ASK_EVERY_MS = 1000;
/** Minimum time between two reloads: a build in which a chunk is missing must not reload in a loop. */
const MIN_RELOAD_INTERVAL_MS = 10_000;

const missing = reactive({
  /**
   * `unreachable`: a chunk is missing, and the server does not respond. `missing`: it responds, and the chunk comes with a
   * reload. `newer`: it has another build of the console than this page.
   */
  state: 'none' as 'none' | 'unreachable' | 'missing' | 'newer',
  /** The page that the user opened and that could not be shown; null if the chunk is a part of the page that is shown. */
  page: null as { readonly name: string; readonly address: string } | null,
});

/** Why the notice of missing parts is shown. */
export const missingParts = readonly(missing);

/**
 * Reloads the page when the chunk of another page could not be loaded: the server was down, or has a newer build. The URL holds
 * the page's state, so the reload waits only until the server responds. A page that stays is not reloaded: it may hold what the
 * user typed.
 */
export function beginAgainForMissingParts(router: Router): void {
  router.onError((_error, to) => {
    missing.page = { name: String(to.name ?? ''), address: to.fullPath };
  });
  router.afterEach((to, from, failed) => {
    // The user went on to a page that is there.
    if (failed === undefined && to.name !== from.name) stayHere();
  });
  addEventListener('vite:preloadError', () => {
    load().catch(() => undefined);
  });
  onResume(() => {
    noticeNewBuild().catch(() => undefined);
  });
}

/** The user stays at the page that is shown. */
export function stayHere(): void {
  current = null;
  missing.state = 'none';
  missing.page = null;
}

/** Reloads at the page that the user opened. */
export function beginAgain(): void {
  sessionStorage.setItem(KEY, String(Date.now()));
  location.assign(missing.page?.address ?? location.href);
}

/** The wait for the server; null if there is none, or the user went on. */
let current: symbol | null = null;

async function load(): Promise<void> {
  if (current !== null) return;
  const own = Symbol('wait');
  current = own;
  const isWanted = (): boolean => current === own;
  try {
    await untilServerResponds(isWanted);
    const state = (await isOtherBuild()) ? 'newer' : 'missing';
    if (!isWanted()) return;
    missing.state = state;
    if (missing.page === null) return;
    await reloadIntervalPassed();
    if (isWanted()) beginAgain();
  } finally {
    if (isWanted()) current = null;
  }
}

async function reloadIntervalPassed(): Promise<void> {
  const sinceLastMs = Date.now() - Number(sessionStorage.getItem(KEY));
  const leftMs = MIN_RELOAD_INTERVAL_MS - sinceLastMs;
  if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
}

async function untilServerResponds(isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    const isThere = await fetch('/healthz').then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere || !isWanted()) return;
    missing.state = 'unreachable';
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

async function noticeNewBuild(): Promise<void> {
  if (missing.state === 'none' && (await isOtherBuild())) missing.state = 'newer';
}

/** Whether the page that the server sends now starts with another script: its name contains a hash of the content. */
async function isOtherBuild(): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  const response = await fetch('/ui/', { cache: 'no-cache' }).catch(() => null);
  if (own === null || response?.ok !== true) return false;
  const sent = new DOMParser().parseFromString(await response.text(), 'text/html');
  const script = sent.querySelector('script[type="module"][src]');
  return script !== null && script.getAttribute('src') !== own.getAttribute('src');
}
