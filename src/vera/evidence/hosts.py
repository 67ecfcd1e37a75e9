"""What kind of site a host is, from small tables: search engines, package indexes, registries, literature,
commentary. A host is matched by whole labels, never by a word inside its name."""

from collections.abc import Collection
from urllib.parse import urlsplit

_HOST_LIMIT = 255
_URL_LIMIT = 4000

SEARCH_ENGINES = frozenset({
    "bing.com", "www.bing.com", "cn.bing.com", "duckduckgo.com", "www.duckduckgo.com", "html.duckduckgo.com",
    "lite.duckduckgo.com", "search.brave.com", "api.search.brave.com", "search.yahoo.com",
    "search.yahoo.co.jp", "news.search.yahoo.com", "yandex.com", "yandex.ru", "ya.ru", "www.yandex.com",
    "www.yandex.ru", "baidu.com", "www.baidu.com", "m.baidu.com", "so.com", "www.so.com", "sogou.com",
    "www.sogou.com", "search.naver.com", "startpage.com", "www.startpage.com", "ecosia.org",
    "www.ecosia.org", "qwant.com", "www.qwant.com", "mojeek.com", "www.mojeek.com", "kagi.com",
    "search.marginalia.nu", "swisscows.com", "metager.org", "metager.de", "searx.be", "scholar.google.com",
    "news.google.com", "api.tavily.com", "google.serper.dev", "serpapi.com", "api.exa.ai",
})  # fmt: skip
"""Hosts of general search engines, beside google.<any country>."""

PACKAGE_INDEXES = frozenset({
    "pypi.org", "test.pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com",
    "deb.debian.org", "security.debian.org", "ftp.debian.org", "snapshot.debian.org", "archive.ubuntu.com",
    "security.ubuntu.com", "ports.ubuntu.com", "dl-cdn.alpinelinux.org", "mirrors.fedoraproject.org",
    "download.fedoraproject.org", "crates.io", "index.crates.io", "static.crates.io", "proxy.golang.org",
    "sum.golang.org", "rubygems.org", "index.rubygems.org", "conda.anaconda.org", "repo.anaconda.com",
    "repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "api.nuget.org", "repo.packagist.org",
    "cran.r-project.org", "cloud.r-project.org", "hackage.haskell.org", "hex.pm", "repo.hex.pm",
    "cpan.metacpan.org",
})  # fmt: skip
"""Hosts from which package managers get software."""

STANDARDS_BODIES = frozenset({
    "w3.org", "ietf.org", "rfc-editor.org", "iana.org", "icann.org", "iso.org", "iec.ch", "ieee.org",
    "unicode.org", "ecma-international.org", "oasis-open.org", "etsi.org", "whatwg.org",
    "cencenelec.eu", "ansi.org", "din.de", "bsigroup.com", "bipm.org", "ich.org", "3gpp.org", "khronos.org",
})  # fmt: skip
"""Registrable domains of bodies that make standards."""

PUBLIC_BODIES = frozenset({
    "un.org", "unesco.org", "imf.org", "worldbank.org", "wto.org", "oecd.org", "iaea.org", "bis.org",
    "bundestag.de", "bundesregierung.de", "bundesbank.de", "bfarm.de", "pei.de", "destatis.de",
    "bundesverfassungsgericht.de", "bundesgerichtshof.de", "parliament.uk", "bankofengland.co.uk",
    "judiciary.uk", "senat.fr", "assemblee-nationale.fr", "regeringen.se", "riksdagen.se", "overheid.nl",
    "rijksoverheid.nl", "oesterreich.at", "parlament.ch",
})  # fmt: skip
"""Registrable domains of governments, courts, regulators and treaty bodies that stand under no suffix kept
for them."""

REGISTRIES = frozenset({
    "pubchem.ncbi.nlm.nih.gov", "clinicaltrials.gov", "accessdata.fda.gov", "dailymed.nlm.nih.gov",
    "clinicaltrialsregister.eu", "euclinicaltrials.eu", "isrctn.com", "trialsearch.who.int", "drugbank.com",
    "ebi.ac.uk", "uniprot.org", "rcsb.org", "genenames.org", "cas.org", "chemspider.com", "echa.europa.eu",
    "efts.sec.gov", "find-and-update.company-information.service.gov.uk", "unternehmensregister.de",
    "handelsregister.de", "opencorporates.com", "gleif.org", "patents.google.com", "worldwide.espacenet.com",
    "patentscope.wipo.int", "tmsearch.uspto.gov", "euipo.europa.eu", "wikidata.org", "orcid.org", "ror.org",
    "crossref.org", "datacite.org", "geonames.org", "gbif.org", "itis.gov", "iucnredlist.org", "worldcat.org",
    "viaf.org", "whois.iana.org", "rdap.org", "osti.gov",
})  # fmt: skip
"""Hosts that keep a register: of substances, trials, companies, patents, names."""

LITERATURE = frozenset({
    "pubmed.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov", "doi.org", "arxiv.org", "biorxiv.org", "medrxiv.org",
    "chemrxiv.org", "ssrn.com", "nature.com", "science.org", "sciencedirect.com", "cell.com", "thelancet.com",
    "nejm.org", "jamanetwork.com", "bmj.com", "plos.org", "pnas.org", "springer.com", "wiley.com",
    "tandfonline.com", "sagepub.com", "oup.com", "cambridge.org", "acm.org", "ieeexplore.ieee.org", "aps.org",
    "acs.org", "rsc.org", "iop.org", "mdpi.com", "frontiersin.org", "biomedcentral.com", "jstor.org",
    "aclanthology.org", "openreview.net", "neurips.cc", "mlr.press", "jmlr.org", "europepmc.org",
    "cochranelibrary.com", "hal.science", "zenodo.org", "openalex.org", "semanticscholar.org",
    "eur-lex.europa.eu", "cyberleninka.ru", "cnki.net", "jstage.jst.go.jp", "scielo.br", "scielo.org",
})  # fmt: skip
"""Hosts of journals, preprints and the texts of law, where the first account of something is published."""

COMMENTARY = frozenset({
    "wikipedia.org", "wikimedia.org", "wiktionary.org", "fandom.com", "britannica.com", "baike.baidu.com",
    "reddit.com", "redd.it", "quora.com", "zhihu.com", "stackexchange.com", "stackoverflow.com",
    "news.ycombinator.com", "x.com", "twitter.com", "facebook.com", "instagram.com", "threads.net",
    "bsky.app", "mastodon.social", "linkedin.com", "youtube.com", "youtu.be", "tiktok.com", "vk.com",
    "weibo.com", "t.me", "medium.com", "substack.com", "wordpress.com", "blogspot.com", "tumblr.com",
    "hashnode.dev", "dev.to", "ghost.io", "forbes.com", "businessinsider.com", "theverge.com",
    "techcrunch.com", "wired.com", "arstechnica.com", "cnet.com", "engadget.com", "zdnet.com", "bbc.co.uk",
    "bbc.com", "cnn.com", "nytimes.com", "washingtonpost.com", "wsj.com", "bloomberg.com", "reuters.com",
    "apnews.com", "afp.com", "theguardian.com", "ft.com", "economist.com", "npr.org", "spiegel.de",
    "faz.net", "zeit.de", "lemonde.fr", "lefigaro.fr", "elpais.com", "corriere.it", "nhk.or.jp",
    "asahi.com", "xinhuanet.com", "aljazeera.com", "politico.com", "politico.eu",
})  # fmt: skip
"""Hosts where others report or discuss: encyclopaedias, forums, social networks, the press."""


def host_of(address: str) -> str:
    """The host of a URL, or of `host`, `host:port`: lower case, the ASCII form of IDNA, without the last dot.

    '' for what has none. A backslash is read as a slash, as browsers read it (WHATWG URL, special schemes).
    """
    text = address.strip()[:_URL_LIMIT].replace("\\", "/")
    try:
        host = urlsplit(text if "://" in text[:12] else f"//{text}").hostname or ""
    except ValueError:
        return ""
    host = host.replace("。", ".").rstrip(".")
    if not host or len(host) > _HOST_LIMIT:
        return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return host.lower()


def entry_of(host: str, table: Collection[str]) -> str:
    """The entry of a table that a host is or lies under (`en.wikipedia.org`: wikipedia.org), '' for none.

    >>> entry_of("notreddit.com", COMMENTARY)
    ''
    """
    while host:
        if host in table:
            return host
        host = host.partition(".")[2]
    return ""
