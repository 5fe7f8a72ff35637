// Search over search_index.js: [place, title, headings, words] for each page. Words in titles count most, then headings, then text.
const up = document.currentScript.dataset.up;
const field = document.getElementById("search");
const results = document.getElementById("results");
const article = document.querySelector("article");
let pages = null;

// As a script, so that a site in a folder can be searched without anybody serving it. `?q=words` searches at once.
function load() {
  pages ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${up}/search_index.js`;
    script.onload = () => done(globalThis.searchIndex);
    script.onerror = failed;
    document.head.append(script);
  });
  return pages;
}

function score(page, words) {
  let total = 0;
  const [, title, headings, text] = page.map((part) => (Array.isArray(part) ? part.join("\n") : part).toLowerCase());
  for (const word of words) {
    const found = (title.includes(word) ? 20 : 0) + (headings.includes(word) ? 6 : 0) + Math.min(text.split(word).length - 1, 5);
    if (!found) return 0;
    total += found;
  }
  return total;
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  const start = Math.max(0, at - 60);
  const line = document.createElement("p");
  line.append(start ? "…" : "", text.slice(start, at));
  const mark = document.createElement("mark");
  mark.textContent = text.slice(at, at + word.length);
  line.append(mark, text.slice(at + word.length, at + 120), "…");
  return line;
}

async function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
  results.hidden = !words.length;
  article.hidden = !!words.length;
  if (!words.length) return;
  const found = (await load()).map((page) => [score(page, words), page]).filter(([points]) => points).sort((a, b) => b[0] - a[0]);
  const heading = document.createElement("h1");
  heading.textContent = found.length ? `${found.length} pages` : "Nothing found";
  const list = document.createElement("ul");
  for (const [, [place, title, , text]] of found.slice(0, 30)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${up}/${place}`;
    link.textContent = title;
    item.append(link, excerpt(text, words[0]));
    list.append(item);
  }
  results.replaceChildren(heading, list);
}

field.addEventListener("input", search);
field.value = new URLSearchParams(location.search).get("q") ?? "";
if (field.value) search();
field.form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
