/** The page of `/` if the console was not built, as in a clone that runs from its sources. It loads nothing. */
export const NOT_BUILT_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Patchboard</title>
</head>
<body>
<h1>Patchboard</h1>
<p>The server is running. Its console was not built yet: run <code>npm run build</code> in the clone and load this page again.</p>
<p>The description of every route is at <a href="/openapi.json">/openapi.json</a>.</p>
</body>
</html>
`;
