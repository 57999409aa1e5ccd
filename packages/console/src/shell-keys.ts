import { onMounted, onUnmounted } from 'vue';
import { useBackPage } from './back-page.ts';
import { closeNewest, isTyping, usePageKeys } from './page-keys.ts';

export interface ShellKeys {
  togglePalette(): void;
  toggleHelp(): void;
  focusPage(): void;
}

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
  const backPage = useBackPage();
  let wasOpenAbove = false;
  // Before any other handler: one of them closes what is open.
  const look = (event: KeyboardEvent): void => {
    // Enter takes what an input method composes, Escape drops it: they must not also act on the page.
    if (event.isComposing && (event.key === 'Enter' || event.key === 'Escape')) event.stopPropagation();
    else if (event.key === 'Escape') wasOpenAbove = document.querySelector(OPEN_ABOVE) !== null;
  };
  onMounted(() => addEventListener('keydown', look, true));
  onUnmounted(() => removeEventListener('keydown', look, true));
  usePageKeys((event) => {
    // With Shift the keys are those of an editor or of the browser.
    if ((event.metaKey || event.ctrlKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      keys.togglePalette();
    } else if (event.key === 'Escape') {
      if (wasOpenAbove || event.defaultPrevented) return;
      if (isInSearch(event)) keys.focusPage();
      else if (!isTyping(event) && !closeNewest()) backPage()?.go();
    } else if (!isTyping(event) && event.key === '?') {
      event.preventDefault();
      keys.toggleHelp();
    } else if (!isTyping(event) && event.key === '/') {
      event.preventDefault();
      if (!focusSearch()) keys.togglePalette();
    }
  });
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
