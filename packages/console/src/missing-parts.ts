import type { Router } from 'vue-router';

const KEY = 'patchboard.began-again';
const ASK_EVERY_MS = 1000;
/** Minimum time between two reloads: a build in which a chunk is missing must not reload in a loop. */
const MIN_RELOAD_INTERVAL_MS = 10_000;

/**
 * Reloads the page when a chunk could not be loaded: the server was down, or has a newer build. The URL holds
 * the page's state, so the reload waits only until the server responds.
 */
export function beginAgainForMissingParts(router: Router): void {
  let wanted: string | null = null;
  router.onError((_error, to) => {
    wanted = to.fullPath;
  });
  addEventListener('vite:preloadError', () => {
    serverResponds()
      .then(() => reloadIntervalPassed())
      .then(() => beginAgain(wanted ?? location.href))
      .catch(() => undefined);
  });
}

function beginAgain(address: string): void {
  sessionStorage.setItem(KEY, String(Date.now()));
  location.assign(address);
}

async function reloadIntervalPassed(): Promise<void> {
  const sinceLastMs = Date.now() - Number(sessionStorage.getItem(KEY));
  const leftMs = MIN_RELOAD_INTERVAL_MS - sinceLastMs;
  if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
}

async function serverResponds(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    const isThere = await fetch('/healthz').then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
  }
}
