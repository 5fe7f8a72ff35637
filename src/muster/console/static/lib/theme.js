// Light, dark, or as the system says; remembered in this browser.
const KEY = 'muster.theme';

export const theme = () => localStorage.getItem(KEY) ?? 'system';

export function applyTheme(chosen = theme()) {
  if (chosen === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, chosen);
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
