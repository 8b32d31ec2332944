// The report, as package export writes it, in a frame without scripts.
import { of } from './api.js';
import { html, useChanges, useEffect, useRef, useState } from './ui.js';
import { over } from './words.js';

export function Report({ conv, api }) {
  useChanges(conv, 'facts', 'read');
  const frame = useRef(), [height, set] = useState(600), { record } = conv.read, ended = over(record.state);
  const rounds = `${record.round}-${ended}`, files = { html: 'Page', md: 'Markdown', json: 'JSON' };
  const url = (ending) => api.url(of(conv.id, `export.${ending}`));
  const fit = () => {
    const page = frame.current?.contentDocument?.documentElement;
    if (page) set(Math.max(page.scrollHeight, 300));
  };
  useEffect(() => {
    addEventListener('resize', fit);
    return () => removeEventListener('resize', fit);
  }, []);
  const loaded = () => {
    fit();
    const page = frame.current?.contentDocument;
    page?.addEventListener('toggle', fit, true);
  };
  return html`<div class="report">
    <p class="row">${Object.entries(files).map(([ending, name]) => html`<a class="button" href=${url(ending)}
      ...${ending === 'html' ? { target: '_blank', rel: 'noopener' } : { download: '' }}>${name}</a>`)}
      ${!ended && html`<span class="soft">It is made anew at the end of each round.</span>`}</p>
    <iframe key=${rounds} ref=${frame} title="Report" sandbox="allow-same-origin" src=${url('html')} height=${height} onLoad=${loaded}>
      </iframe>
  </div>`;
}
