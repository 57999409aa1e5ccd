import type { Router } from 'vue-router';

const KEY = 'patchboard.began-again';
const ASK_EVERY_MS = 1000;
/** A build that lacks a part for good would begin again for ever. */
const AT_MOST_EVERY_MS = 10_000;

/**
 * A part of the console could not be fetched: the server was away, or has another build by now. Everything worth keeping
 * is in the address, so the page begins again there as soon as the server answers.
 */
export function beginAgainForMissingParts(router: Router): void {
  let wanted: string | null = null;
  router.onError((_error, to) => {
    wanted = to.fullPath;
  });
  addEventListener('vite:preloadError', () => {
    serverAnswers()
      .then(() => beginAgain(wanted ?? location.href))
      .catch(() => undefined);
  });
}

function beginAgain(address: string): void {
  if (Date.now() - Number(sessionStorage.getItem(KEY)) < AT_MOST_EVERY_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.assign(address);
}

async function serverAnswers(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    const isThere = await fetch('/healthz').then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
  }
}
