// Runs before the first paint, so that a dark page does not flash white. Kept apart: the policy allows no inline script.
(() => {
  const chosen = localStorage.getItem('patchboard.theme');
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', isDark);
})();
