import { createHash } from 'node:crypto';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  main { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
  code { font: 0.9em ui-monospace, monospace; }
  li { margin: 0.3rem 0; }
`;

const LINKS: readonly (readonly [href: string, words: string])[] = [
  ['/v1/tools', 'the tools you may call'],
  ['/v1/tool_calls', 'calls, newest first'],
  ['/v1/ledger', 'the record of every change'],
  ['/v1/stats', 'what is under way'],
  ['/openapi.json', 'the description of every route'],
  ['/metrics', 'metrics'],
  ['/healthz', 'health'],
];

/** One page; all it loads is the script that makes a login link work. */
export const HOME_PAGE: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Patchboard</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Patchboard</h1>
<p>A switchboard between agents and tools. It is running.</p>
<p id="login" role="status"></p>
<ul>
${LINKS.map(([href, words]) => `<li><a href="${href}"><code>${href}</code></a> ${words}</li>`).join('\n')}
</ul>
</main>
<script src="/ui/login.js"></script>
</body>
</html>
`;

/** The style is allowed by its hash, scripts and requests from here only; everything else is forbidden. */
export const HOME_POLICY: string = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
