// Browsers start no worker for a page that was opened from a folder (file:). The search of the site runs in
// one, so here it gets a hidden frame instead; a page that a server sent keeps the browser's own workers.
if (location.protocol === "file:") {
  const frameScript = (url) => `<body><script>
    self.importScripts = async (...urls) => {
      for (const url of urls) {
        await new Promise((done, failed) => {
          const script = document.createElement("script");
          Object.assign(script, { src: url, onload: done, onerror: failed });
          document.body.append(script);
        });
      }
    };
    self.postMessage = (data) => frameElement.worker.dispatchEvent(new MessageEvent("message", { data }));
  <\/script><script src="${new URL(url, location.href)}"><\/script></body>`;

  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      Object.assign(this.frame, { hidden: true, srcdoc: frameScript(url), worker: this });
      this.loaded = new Promise((done) => this.frame.addEventListener("load", done));
      document.body.append(this.frame);
    }

    async postMessage(data) {
      await this.loaded;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
