import { onScopeDispose } from 'vue';

/**
 * Returns a listener for `focusout` that calls `onLeft` when the focus leaves the element. If a press of the pointer moved the
 * focus, it calls it after the click: a line that appears in between would move the button away under the pointer.
 */
export function useFieldLeft(onLeft: () => void): (event: FocusEvent) => void {
  const stop = new AbortController();
  onScopeDispose(() => stop.abort());
  return ({ currentTarget, relatedTarget }) => {
    if (!(currentTarget instanceof Node)) return;
    if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return;
    if (!isPressed) onLeft();
    else {
      for (const type of ['pointerup', 'pointercancel']) {
        window.addEventListener(type, () => setTimeout(onLeft), { once: true, signal: stop.signal });
      }
    }
  };
}

let isPressed = false;
window.addEventListener('pointerdown', () => (isPressed = true), true);
for (const type of ['pointerup', 'pointercancel']) {
  window.addEventListener(type, () => (isPressed = false), true);
}
