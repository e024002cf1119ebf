const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

/** Leaves out what one operation without parameters does not need: servers, schemas, locks. */
const createPlantOnly = ({ React: { createElement }, getComponent }) => ({
  components: {
    CreatePlantLayout: () =>
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

/** Has the editor of the request body begin with this text. */
const proposing = (defaultValue) => () => ({
  wrapComponents: {
    RequestBodyEditor: (Editor, { React: { createElement } }) => {
      return (props) => createElement(Editor, { ...props, defaultValue });
    },
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

/** Scrolls to each response, which is below the edge of a phone's screen. */
const scrollToResponse = () => ({
  wrapComponents: {
    liveResponse: (LiveResponse, { React: { createElement, useEffect, useRef } }) => {
      return (props) => {
        const place = useRef();
        useEffect(() => {
          const table = place.current.querySelector('.live-responses-table');
          table?.scrollIntoView({ block: 'nearest' });
        }, [props.response]);
        return createElement('div', { ref: place }, createElement(LiveResponse, props));
      };
    },
  },
});

/** An odd id from 2^53 to 2^63: a number of JavaScript cannot hold it. */
function randomId() {
  const [random] = crypto.getRandomValues(new BigInt64Array(1));
  return BigInt.asUintN(63, random) | (1n << 53n) | 1n;
}

/** Takes the example out of the description: Swagger UI would round its id. Returns it with another id, as JSON. */
function takeExample(description) {
  const media = description.paths['/plants'].post.requestBody.content['application/json'];
  const { id, ...plant } = media.examples.tagged.value;
  delete media.examples;
  return JSON.stringify({ id: 0, ...plant }, null, 2).replace('0', `${randomId()}`);
}

const token = document.getElementById('access-token');
const response = await fetch('/openapi.json');
const description = await response.json();

globalThis.SwaggerUIBundle({
  domNode: document.getElementById('try-it'),
  spec: description,
  plugins: [createPlantOnly, maskToken, scrollToResponse, proposing(takeExample(description))],
  layout: 'CreatePlantLayout',
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
