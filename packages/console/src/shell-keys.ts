import { onMounted, onUnmounted } from 'vue';
import { useRoute, useRouter, type RouteLocationRaw } from 'vue-router';
import { closeNewest, isTyping, usePageKeys } from './page-keys.ts';

export interface ShellKeys {
  togglePalette(): void;
  toggleHelp(): void;
  focusPage(): void;
}

/** The list that each detail page belongs to. */
const LIST_OF: Readonly<Record<string, string>> = {
  call: 'calls',
  run: 'runs',
  trace: 'runs',
  compare: 'runs',
};

/** What Escape closes by itself: dialogs, drawers, popovers, the palette and the menu. */
const OPEN_ABOVE = [
  '[data-palette]',
  '[data-keys]',
  '.el-overlay:not([style*="display: none"])',
  '.el-popper[aria-hidden="false"]',
  '[data-menu][aria-expanded="true"]',
].join();

/** The keys of every page: ⌘K or Ctrl+K, `?`, `/` and Escape. */
export function useShellKeys(keys: ShellKeys): void {
  const back = useBack();
  let wasOpenAbove = false;
  // Before any other handler: one of them closes what is open.
  const look = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') wasOpenAbove = document.querySelector(OPEN_ABOVE) !== null;
  };
  onMounted(() => addEventListener('keydown', look, true));
  onUnmounted(() => removeEventListener('keydown', look, true));
  usePageKeys((event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      keys.togglePalette();
    } else if (event.key === 'Escape') {
      if (wasOpenAbove || event.defaultPrevented) return;
      if (isInSearch(event)) keys.focusPage();
      else if (!isTyping(event) && !closeNewest()) back();
    } else if (!isTyping(event) && event.key === '?') {
      event.preventDefault();
      keys.toggleHelp();
    } else if (!isTyping(event) && event.key === '/') {
      event.preventDefault();
      if (!focusSearch()) keys.togglePalette();
    }
  });
}

/** Returns from a detail to its list, as the user left it if that was the page before. */
function useBack(): () => void {
  const route = useRoute();
  const router = useRouter();
  return () => {
    const list = LIST_OF[String(route.name)];
    if (list === undefined || !router.hasRoute(list)) return;
    const target: RouteLocationRaw = { name: list };
    const { back } = history.state as { readonly back?: unknown };
    if (typeof back === 'string' && router.resolve(back).name === list) router.back();
    else router.push(target).catch(() => undefined);
  };
}

function isInSearch(event: KeyboardEvent): boolean {
  const target = event.target;
  return target instanceof Element && target.closest('[data-page-search]') !== null;
}

/** Focuses the search field of the page. Returns false if it has none that is shown. */
function focusSearch(): boolean {
  for (const place of document.querySelectorAll<HTMLElement>('[data-page-search]')) {
    const field = place.matches('input, textarea')
      ? place
      : place.querySelector<HTMLElement>('input, textarea, [contenteditable="true"]');
    if (field === null || field.offsetParent === null) continue;
    field.focus();
    if (field instanceof HTMLInputElement) field.select();
    return true;
  }
  return false;
}
