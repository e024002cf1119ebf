const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

/** Shows the operations, without what they do not need: servers, schemas, locks. */
const operationsOnly = ({ React: { createElement }, getComponent }) => ({
  components: {
    OperationsLayout: () =>
      createElement(
        'div',
        { className: 'swagger-ui' },
        createElement(getComponent('SvgAssets')),
        createElement(getComponent('errors', true)),
        createElement(getComponent('operations', true)),
      ),
    authorizeOperationBtn: () => null,
  },
});

/** Hides the token in the curl command, as in its field. */
const maskToken = () => ({
  wrapComponents: {
    curl: (Curl, { React: { createElement } }) => {
      const mask = (value) => value.replace(/^Bearer .*/, 'Bearer ••••••••');
      return ({ request, ...props }) =>
        createElement(Curl, {
          ...props,
          request: request.update('headers', (headers) => headers?.map(mask)),
        });
    },
  },
});

/**
 * Scrolls to each response, which is below the edge of a phone's screen. Moves the focus to it from Execute, which loses
 * it while it is disabled.
 */
const showResponse = () => ({
  wrapComponents: {
    liveResponse: (LiveResponse, { React: { createElement, useEffect, useRef } }) => {
      return (props) => {
        const place = useRef();
        useEffect(() => {
          const table = place.current.querySelector('.live-responses-table');
          if (!table) return;
          table.scrollIntoView({ block: 'nearest' });
          table.tabIndex = -1;
          if (document.activeElement === document.body) table.focus({ preventScroll: true });
        }, [props.response]);
        return createElement('div', { ref: place }, createElement(LiveResponse, props));
      };
    },
  },
});

/** Gives each example an id that is probably free. Swagger UI would round one above 2^53. */
function withFreeId(key, value) {
  const isId = key === 'id' && typeof value === 'number';
  return isId ? Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) : value;
}

const token = document.getElementById('access-token');
/** What `/` of the service is in this page: a proxy may serve it below a path. */
const root = new URL('..', import.meta.url);
const response = await fetch(new URL('openapi.json', root));
const description = JSON.parse(await response.text(), withFreeId);
const tryIt = document.getElementById('try-it');
/** What a screen reader needs, and Swagger UI leaves out. */
const ATTRIBUTES = [
  ['.examples-select-element', 'aria-label', 'Example'],
  ['.body-param__text', 'aria-label', 'Request body'],
  ['h4', 'aria-level', '2'],
  ['h5', 'aria-level', '3'],
];
new MutationObserver(() => {
  for (const [selector, attribute, value] of ATTRIBUTES) {
    for (const element of tryIt.querySelectorAll(selector)) element.setAttribute(attribute, value);
  }
}).observe(tryIt, { childList: true, subtree: true });
// This page uses the service that it comes from, whatever address clients use.
description.servers = [{ url: root.pathname + tryIt.dataset.basePath.slice(1) }];

globalThis.SwaggerUIBundle({
  domNode: tryIt,
  spec: description,
  plugins: [operationsOnly, maskToken, showResponse],
  layout: 'OperationsLayout',
  docExpansion: 'full',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'obsidian' },
  requestInterceptor(request) {
    if (token.value.trim()) request.headers.Authorization = `Bearer ${token.value.trim()}`;
    return request;
  },
  // Otherwise the page would ask a server on the internet whether the description is valid.
  validatorUrl: null,
});
