"""Tells files from pages by the ends of their paths."""

from __future__ import annotations

import re

#: Documents, media and archives: nothing else in a page or a script ends like them.
_FILES = frozenset(
    "pdf doc docx docm xls xlsx xlsm xlsb ppt pptx pptm pps ppsx odt ods odp odg rtf epub mobi "
    "azw azw3 fb2 cbz cbr djvu ps eps txt csv tsv json geojson topojson parquet zip rar 7z tar gz "
    "tgz bz2 xz zst exe msi dmg apk deb rpm jar iso mp3 m4a m4b ogg oga wav flac opus aac wma aif "
    "aiff midi mp4 m4v webm avi mov mkv wmv flv f4v mpg mpeg ogv 3gp m3u m3u8 mpd jpg jpeg png "
    "gif webp avif svg tif tiff bmp heic heif jxl psd ics vcf kml kmz gpx stl torrent srt "
    "vtt swf".split()
)
#: Files behind links only: in a script, ``console.log`` and ``event.key`` end like these.
_LINKED_FILES = frozenset(
    # Documents and data.
    "dot dotx dotm xlt xltx pot potx vsd vsdx mpp pages numbers key wpd wps ott ots otp odf odb "
    "tex bib ris enw bibtex latex dvi md markdown rst adoc asciidoc log dat data xml xsd xsl xslt "
    "dtd rdf owl ttl nt n3 nq trig jsonl ndjson jsonld yaml yml toml ini cfg conf properties env "
    "sql sqlite sqlite3 db db3 mdb accdb dbf nc nc4 cdf hdf h5 hdf5 he5 grib grb grib2 grb2 fits "
    "fit fts netcdf mat rds rda rdata sav por dta sas7bdat xpt npy npz pkl pickle feather arrow "
    "orc avro msgpack bson px arff libsvm safetensors onnx gguf ckpt pth hdr tfrecord "
    # Maps, models, molecules and drawings.
    "gml gpkg shp shx prj tcx osm pbf mbtiles pmtiles las laz dem asc tfw dwg dxf dgn dwf dwfx "
    "rvt rfa ifc skp step stp iges igs obj fbx gltf glb dae ply 3ds 3mf blend usd usdz usda max "
    "sldprt sldasm ipt iam idw brd sch kicad_pcb gbr gerber gcode cif pdb mol mol2 sdf fasta "
    "fastq fna faa gff gff3 gtf sam bam bed vcfgz gb gbk nwk nex phy mzml "
    # Pictures, type, sound, films, subtitles and scores.
    "ai indd idml sketch fig xd xcf kra cdr wmf emf raw dng cr2 cr3 nef arw orf rw2 raf tga dds "
    "exr jp2 j2k jpe jfif jif apng cur icns svgz ttf otf ttc woff woff2 eot pfb mid kar mod xm "
    "s3m amr ac3 dts ape alac mka mpc snd caf ra ram rm rmvb asf asx divx vob mts m2ts mxf 3g2 "
    "ogm ssa ass sub sbv dfxp ttml lrc pls xspf cue mscz mscx mxl musicxml gp gp3 gp4 gp5 gpx7 "
    "abc ly sib mus pgn sgf ged gedcom anki apkg "
    # Programs, their sources, packages and disks.
    "py pyw pyi ipynb rmd qmd rb lua tcl vbs ps1 psm1 bat cmd sh bash zsh js mjs cjs jsx ts tsx "
    "css scss less vue svelte java kt kts scala groovy gradle cs vb fs cpp cxx hpp hxx hh rs go "
    "swift dart jl hs erl ex exs clj cljs lisp nim zig asm pas f90 f95 for cob sol proto graphql "
    "wasm whl egg gem crate nupkg vsix xpi crx ipa appx msix aab xapk pkg snap flatpak appimage "
    "flatpakref cab war ear lz lz4 lzma lzh zpaq tbz tbz2 txz tlz ace arj sit sitx bin img vhd "
    "vhdx vmdk vdi ova ovf qcow2 rom nes gba sfc z64 nds gbc patch diff sig asc sha1 sha256 "
    "sha512 md5 p7m p7s p7b p12 pfx pem crt cer der csr crl eml msg mbox pcap pcapng vcs mht "
    "mhtml warc wacz chm hlp lit lrf prc ibooks acsm opf".split()
)
#: Ends of paths at which a program answers with a page, or a domain: no file's, even among files.
_PAGES = re.compile(
    r"[sx]?d?html?s?|[pg]html|php\w?|[aj]spx?\d?|js[fp]|jspa|cfml?|f?cgi|pl|dll|do|action|act|"
    r"faces|seam|cms|ece|page|print|amp|full|abstract|rss\d?|atom|axd|srf|nsf|tpl|wml|"
    r"com|org|net|edu|gov|info|biz|app|dev|[a-z]{2}_[a-z]{2}|alpha|beta|final|rc\d+|snapshot"
)
#: No number and no version, such as those of "2.0", "v1.2" and "1.0rc1", and no country.
_SUFFIX = re.compile(r"[^/.]\.([a-z][a-z\d]{2,9})$", re.I)
#: Folders of files, in which any suffix is that of a file.
_FOLDER_OF_FILES = re.compile(r"(?:^|/)(?:data|datasets?|files?|uploads?)/", re.I)
#: Folders of pages that are named for something with a dot, and of pages that show a source.
_FOLDER_OF_NAMES = re.compile(
    r"(?:^|/)(?:(?:wiki|w|users?|u|tags?|tagged|topics?|labels?|authors?|artists?|profiles?|"
    r"members?|people|package|category|categories|search)/[^/]*$|@[^/]*$|"
    r"(?:blob|blame|edit|tree|commits?)/)",
    re.I,
)
#: A host within a path, as of an archive of the web, or without its scheme.
_HOST = re.compile(r"//[^/]*$|(?:^|/)www\.[^/]*$", re.I)
#: What a site says of itself to programs.
_OF_SITE = re.compile(
    r"(?:(?:^|[/_.-])(?:rss\d?|atom|feeds?|sitemaps?|opensearch|osd|oembed|browserconfig|robots|"
    r"(?:[a-z]{1,9}-?)?manifest)|(?:^|/)index)\.(?:xml|json|rdf|txt)$",
    re.I,
)


def is_file(path: str) -> bool:
    """Return whether a path is that of a document, a media file, data or an archive."""
    return _suffix(path) in _FILES and not _OF_SITE.search(path)


def is_linked_file(path: str) -> bool:
    """Return whether the path of a link is that of a file, and not of another page.

    More suffixes count than for :func:`is_file`, but not those of names, as in ``/tag/node.js``.
    """
    if is_file(path):
        return True
    if _OF_SITE.search(path) or _FOLDER_OF_NAMES.search(path) or _HOST.search(path):
        return False
    return _suffix(path) in _LINKED_FILES or _is_in_folder_of_files(path)


def _is_in_folder_of_files(path: str) -> bool:
    found = _FOLDER_OF_FILES.search(path) and _SUFFIX.search(path)
    return bool(found) and not _PAGES.fullmatch(_suffix(path))


def _suffix(path: str) -> str:
    stem, _, suffix = path.rpartition(".")
    return suffix.lower() if stem else ""
